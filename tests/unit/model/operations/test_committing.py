"""Rhythm of a group's commits: detection, waiting time, and messages."""

from __future__ import annotations

import pytest

from kgroups.model.operations.committing import CommitMade, Rhythm, moved_words, rhythm_of, rhythm_words

NOW = 1_000_000
PAIR = ("t", 0)


def every(seconds: float, *, since: float = 90, age: float = 0, step: int = 1) -> list[CommitMade]:
    """Commits at an interval, from some seconds ago on; the last ``age`` seconds ago."""
    count = int((since - age) / seconds) + 1
    return [(NOW - int(1000 * (age + seconds * back)), 100 - step * back) for back in reversed(range(count))]


def found(*commits: CommitMade, window: float = 90) -> Rhythm | None:
    return rhythm_of({PAIR: commits}, NOW, window)


@pytest.mark.parametrize("seconds", [0.1, 1, 5, 30, 44])
@pytest.mark.parametrize("step", [1, 0])
def test_rhythm_is_found_up_to_half_the_window(seconds: float, step: int) -> None:
    for age in (0.0, seconds / 2, seconds * 0.99):
        rhythm = found(*every(seconds, age=age, step=step))
        assert rhythm and abs(rhythm.gap - seconds * 1000) <= 1, (seconds, age)
        assert rhythm.wait(NOW) * 1000 >= rhythm.gap - (NOW - rhythm.last)


def test_rhythm_of_fewer_than_two_commits_is_none() -> None:
    assert rhythm_of({}, NOW, 90) is None


def test_old_commit_does_not_hide_a_client_that_began_later() -> None:
    client = [(NOW - 5_000 + 500 * at, 20 + at) for at in range(10)]
    rhythm = rhythm_of({PAIR: [(NOW - 3_600_000, 10), *client]}, NOW, 90)
    assert rhythm is not None and (rhythm.commits, rhythm.gap) == (10, 500)
    assert found((NOW, 5)) is None


def test_rhythm_of_reset_and_undo_is_none() -> None:
    assert found((NOW - 5000, 100), (NOW - 10, 0)) is None, "back"
    assert found(*every(1, since=60, age=30), (NOW - 20_000, 3)) is None, "a reset after a consumer that was stopped"


def test_rhythm_of_consumer_that_continues_after_reset_is_found() -> None:
    assert found((NOW - 9000, 100), (NOW - 6000, 0), (NOW - 4000, 101), (NOW - 2000, 102)) == Rhythm(
        *PAIR, commits=3, gap=2000, last=NOW - 2000, offset=102
    )


def test_rhythm_of_stopped_consumer_is_none() -> None:
    assert found(*every(1, age=12)) is None
    assert found(*every(5, age=11)) is None
    assert found(*every(20, age=31)) is None
    assert found(*every(60, since=240), window=90) is None, "a gap of more than half of the window"


def test_rhythm_tolerates_clock_difference() -> None:
    assert found(*every(0.1, age=9)) is not None, "ours is ahead"
    assert found((NOW + 60_000, 5), (NOW + 61_000, 6)) is not None, "ours is behind"


def test_rhythm_wait_ends_when_next_commit_is_overdue() -> None:
    for seconds, age, wait in ((0.1, 0, 0.65), (1, 0.5, 2.0), (5, 5, 8.0), (30, 0, 46.5), (30, 20, 26.5)):
        rhythm = found(*every(seconds, age=age))
        assert rhythm and abs(rhythm.wait(NOW) - wait) < 0.01, (seconds, age)


def test_rhythm_is_that_of_the_fastest_partition() -> None:
    rhythm = rhythm_of({("t", 0): every(5), ("t", 1): every(0.1), ("t", 2): [(NOW, 1)]}, NOW, 90)
    assert rhythm and rhythm.name == "t-1"


def test_rhythm_messages_name_offsets_and_times() -> None:
    who = "a client that is not a member still commits"
    assert moved_words(PAIR, 5, 9, 2.04) == f"{who}: the offset of t-0 changed from 5 to 9 within 2.0 s"
    assert moved_words(PAIR, 5, 5, 0.01) == f"{who}: t-0 was committed again at offset 5 within 0.1 s"
    assert moved_words(PAIR, None, 9, 1) == f"{who}: the offset of t-0 changed from - to 9 within 1.0 s"
    rhythm = Rhythm("t", 0, 3, 30_000, NOW - 12_340, 9)
    assert rhythm_words(rhythm, NOW) == ("3 commits of t-0, at most 30.0 s apart, the last 12.3 s ago at offset 9")
