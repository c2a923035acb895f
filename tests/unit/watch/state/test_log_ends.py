"""Times of records, estimated from sampled log end offsets."""

from __future__ import annotations

import pytest

from kgroups.watch.state.log_ends import GAP, POINTS, LogEnds

PLACE = ("orders", 0)


def ends(*samples: tuple[float, int]) -> LogEnds:
    found = LogEnds()
    for now, end in samples:
        found.add(now, [(PLACE, end)])
    return found


def test_record_between_two_samples_is_interpolated() -> None:
    found = ends((100, 10), (200, 20))
    assert [found.appended(PLACE, offset) for offset in (10, 14, 19)] == [110, 150, 200]


def test_record_before_the_first_sample_or_not_appended_yet_is_unknown() -> None:
    found = ends((100, 10), (200, 20))
    assert [found.appended(PLACE, offset) for offset in (9, 20)] == [None, None]
    assert found.appended(("other", 0), 10) is None


def test_idle_time_before_a_record_does_not_count() -> None:
    found = ends((100, 10), (200, 10), (300, 10), (310, 11))
    assert found.appended(PLACE, 10) == 310


def test_log_that_became_shorter_starts_again() -> None:
    assert ends((100, 10), (200, 20), (300, 5), (400, 6)).appended(PLACE, 15) is None


def test_samples_are_bounded_and_reach_back_to_the_first() -> None:
    found = ends(*((now, 10 * now) for now in range(10_000)))
    assert len(found._samples[PLACE][0]) <= POINTS
    assert found.appended(PLACE, 15) is not None
    assert found.appended(PLACE, 10 * 9_990) is not None


def test_samples_of_deleted_topics_are_dropped() -> None:
    found = LogEnds()
    found.add(1, [((f"deleted-{number}", 0), 1) for number in range(9)])
    found.add(2, [(PLACE, 1)])
    assert set(found._samples) == {PLACE}


def test_log_ends_of_a_recreated_topic_start_again() -> None:
    ends = LogEnds()
    ends.add(0.0, [(("t", 0), 10), (("u", 0), 10)], {"t": 1, "u": 2})
    ends.add(10.0, [(("t", 0), 20), (("u", 0), 20)], {"t": 3, "u": 2})
    assert ends.recreated == {"t"}
    assert (ends.appended(("t", 0), 15), ends.appended(("u", 0), 15)) == (None, 6.0)


@pytest.mark.parametrize(("missed", "known"), [(GAP - 1, 25.0), (GAP, None)])
def test_records_appended_in_a_gap_have_no_time(missed: int, known: float | None) -> None:
    found = ends((0.0, 0), (10.0, 10))
    for _ in range(missed):
        found.add(20.0, [(("other", 0), 1)])
    found.add(40.0, [(PLACE, 20)])
    found.add(50.0, [(PLACE, 30)])
    assert found.appended(PLACE, 14) == known
    assert (found.appended(PLACE, 4), found.appended(PLACE, 24)) == (5.0, 45.0)
