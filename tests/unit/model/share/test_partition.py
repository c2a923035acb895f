"""Tallies of the offsets of a share group in one partition."""

from __future__ import annotations

import pytest

from kgroups.model.offsets import LogOffsets
from kgroups.model.share.batches import StateBatch
from kgroups.model.share.partition import SharePartition, Tally, tally_of
from kgroups.model.share.state import Between, ShareState
from kgroups.model.time_lag import FirstUnread

STATE = ShareState(
    *(1, 2, 3, 5),
    (
        StateBatch(5, 6, 2, 1),
        StateBatch(7, 7, 4, 5),
        StateBatch(9, 10, 0, 4),
        StateBatch(11, 13, 0, 1),
        StateBatch(14, 14, 2, 3),
    ),
    Between(1, 1),
    1,
)


def test_offsets_are_counted_by_state() -> None:
    found = tally_of(STATE, LogOffsets(0, 20))
    assert found == Tally(acknowledged=3, archived=1, released=5, deliveries={1: 3, 4: 2}, oldest=8)
    assert (found.finished, found.most_deliveries) == (4, 4)
    assert [found.last_attempts(limit) for limit in (2, 5, 6)] == [5, 2, 0]


@pytest.mark.parametrize(
    ("log", "finished", "oldest"),
    [
        (LogOffsets(0, 8), 4, None),
        (LogOffsets(8, 20), 1, 8),
        (LogOffsets(10, 20), 1, 10),
        (LogOffsets(14, 15), 1, None),
        (LogOffsets(), 4, 8),
    ],
)
def test_deleted_offsets_do_not_count_and_the_log_end_is_no_record(
    log: LogOffsets, finished: int, oldest: int | None
) -> None:
    found = tally_of(STATE, log)
    assert (found.finished, found.oldest) == (finished, oldest)


def test_unfinished_offsets_without_records_are_nothing_unfinished() -> None:
    partition = SharePartition("t", 0, LogOffsets(0, 20), STATE)
    assert partition.has_unfinished
    assert partition._replace(oldest=FirstUnread(8, 1)).has_unfinished
    assert partition._replace(oldest=FirstUnread(failed="no")).has_unfinished
    assert not partition._replace(oldest=FirstUnread()).has_unfinished
    assert not partition._replace(state=None).has_unfinished
