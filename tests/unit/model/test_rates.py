"""Rates and directions: from lags at two commits over one span, and unknown after anything else."""

from __future__ import annotations

import pytest

from kgroups.model.duration import Milliseconds
from kgroups.model.rates import Direction, Outlook, Reading, outlook, pace_of, rates_of, unbroken


def reading(at: int, committed: int, end: int | None, **more: object) -> Reading:
    first = Reading(at * 1000, (("t", (0,)),), (committed,), (end,), (0,), (0,), (7,), frozenset({"m"}))
    return first._replace(**more)  # type: ignore[arg-type]  # of fields by name


FALLING = [reading(0, 0, 1000), reading(2, 500, 2000), reading(4, 1000, 3000), reading(6, 1500, 4000)]


def test_rates_and_direction_have_one_span() -> None:
    pace = pace_of(FALLING)
    assert pace and (pace.since, pace.until) == (2000, 6000)
    assert (pace.consumption, pace.production, pace.lag_before, pace.lag) == (250, 500, 1500, 2500)
    assert rates_of(FALLING) == (500, 250)


def test_lag_that_shrinks_between_two_commits_only_is_not_a_direction() -> None:
    """A consumer in balance, seen directly after its first commit: its lag goes up and down between commits."""
    readings = [reading(at, at // 5 * 500, at * 100 + 10) for at in range(4, 12)]
    pace = pace_of(readings)
    assert pace and pace.direction is Direction.STEADY
    assert pace_of(readings[:3]) is None


@pytest.mark.parametrize(
    "now",
    [
        reading(8, 1400, 4000),  # a reset to an earlier offset
        reading(8, 2000, 3999),  # a shorter log
        reading(8, 2000, 5000, topic_ids=(8,)),
        reading(8, 2000, 5000, epochs=(-1,)),
        reading(8, 2000, None, starts=(None,)),  # without a leader: records may have been deleted
        reading(8, 2000, 5000, members=frozenset()),
        reading(8, 2000, 5000, members=frozenset({"n"})),
        reading(8, 2000, 5000, members=None),
        reading(8, 2000, 5000, starts=(1501,)),  # unread records were deleted
        reading(6, 2000, 5000),  # the clock
        reading(8, 2000, 5000, places=(("t", (0, 1)),)),
        reading(8, 2000, 5000, places=(("t", (1,)),)),
    ],
)
def test_readings_start_again_after_anything_but_consumption_and_production(now: Reading) -> None:
    assert list(unbroken([*FALLING, now])) == [now]
    assert rates_of(unbroken([*FALLING, now])) == (None, None)
    assert pace_of(unbroken([*FALLING, now])) is None


def test_group_that_nobody_reads_falls_behind_while_producers_write() -> None:
    empty = [reading(at, 10, 100 + at, members=frozenset()) for at in range(3)]
    pace = pace_of(empty)
    assert pace and pace.direction is Direction.GREW and pace.consumed == 0
    assert pace_of([each._replace(members=None) for each in empty]) is None
    assert pace_of([each._replace(members=frozenset({"m"})) for each in empty]) is None  # it may commit later


def test_unknown_log_ends_are_left_out_and_not_zero() -> None:
    gap = [FALLING[0], FALLING[1], FALLING[2]._replace(ends=(None,)), FALLING[3]]
    assert rates_of(gap) == (500, 250)
    assert rates_of(gap[:3]) == (None, 250)
    assert pace_of(gap[:3]) is None


def both(*pairs: tuple[int, int], ends: tuple[int, int] = (1000, 1000), every: int = 1) -> list[Reading]:
    """Return readings of two partitions, ``every`` so many seconds: what was committed on each."""
    places = (("t", (0, 1)),)
    return [
        Reading(at * every * 1000, places, each, ends, (0, 0), (0, 0), (7,), frozenset({"m"}))
        for at, each in enumerate(pairs)
    ]


def future(readings: list[Reading]) -> Outlook:
    pairs = zip(readings[-1].ends, readings[-1].committed, strict=True)
    return outlook(readings, [None if end is None else end - at for end, at in pairs])


def test_group_is_caught_up_when_its_slowest_partition_is() -> None:
    assert future(both((0, 0), (400, 10), (800, 20))) == Outlook(Milliseconds(98_000))
    assert future(both((0, 1000), (400, 1000), (800, 1000))) == Outlook(Milliseconds(500))
    assert future(both((0, 0), (400, 0), (800, 0))) == Outlook()  # no commits of a partition with a lag
    assert future(both((0, 1050), (400, 1050), (800, 1050))) == Outlook()  # a commit beyond the end


def test_usual_lag_does_not_count() -> None:
    """What is read in 10 s."""
    flow = [reading(at, 90 * at, 150 + 100 * at) for at in range(3)]
    assert outlook(flow, [170]) == Outlook(steady=True, usual=True)
    slow = [reading(0, 90, 91), *(reading(at, 91, 90 + at) for at in range(1, 5))]
    assert outlook(slow[:3], [1]) == Outlook(steady=True, usual=True)
    assert outlook(slow[:4], [2]) == Outlook()  # more than was read so far


def test_lag_of_which_nothing_was_read_is_not_usual() -> None:
    young = [reading(at, 100, 100 + 7 * at) for at in range(10)]
    for samples in range(2, 11):
        assert outlook(young[:samples], [7 * samples - 7]) == Outlook()
    assert outlook([each._replace(members=frozenset()) for each in young], [63]) == Outlook(falls_behind=True)
    began = reading(-60, 30, 100)
    assert outlook(young, [63], began) == Outlook(steady=True, usual=True)  # of the last 9 s; as much was read before
    assert outlook([*young, reading(11, 100, 170)], [70], began) == Outlook()


def test_lag_that_was_usual_until_commits_stopped_is_unknown() -> None:
    flow = [reading(at, 90 * at, 150 + 100 * at) for at in range(4)]
    stopped = [*flow, *(reading(at, 270, 150 + 100 * at) for at in range(4, 12))]
    assert outlook(stopped[:9], [680]) == Outlook(steady=True, usual=True)
    assert outlook(stopped, [980]) == Outlook()  # more than is read in 10 s
    quiet = [*flow, *(reading(at, 270, 450) for at in range(4, 15))]
    assert outlook(quiet[:12], [180]) == Outlook(steady=True, usual=True)
    assert outlook(quiet, [180]) == Outlook()  # the last commit was 11 s ago, and there were two in 2 s


def test_lag_that_shrank_until_commits_stopped_is_unknown() -> None:
    shrank = both((0, 0), (0, 200), (0, 400), (0, 600), ends=(0, 9_000))
    assert future(shrank) == Outlook(Milliseconds(42_000))
    burst = shrank[-1]._replace(at=3_500, ends=(0, 9_500))
    assert future([*shrank, burst]) == Outlook()  # the lag is larger than at the first commit


def test_lag_that_remains_the_same_is_steady() -> None:
    same = [reading(at, 10 * at, 5_000 + 10 * at) for at in range(4)]
    assert outlook(same, [5_000]) == Outlook(steady=True)
    doubtful = [reading(at, 1_000 * at, 5_000 + 1_000 * at) for at in range(4)]
    assert not outlook(doubtful, [5_000]).falls_behind
