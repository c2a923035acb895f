"""States of share groups, from snapshots and updates."""

from __future__ import annotations

from kgroups.model.share.batches import StateBatch
from kgroups.model.share.state import UNCHANGED, Between, ShareState, StateRecord, state_of

AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4


def snapshot(time: int, start: int, *batches: StateBatch, created: int | None = None, epoch: int = 1) -> StateRecord:
    """Created at its time, or a copy."""
    rewritten = None if created is None else time
    return StateRecord(time, epoch, 3, start, batches, 2, time if created is None else created, rewritten)


def update(time: int, *batches: StateBatch, start: int = UNCHANGED, leader_epoch: int = UNCHANGED) -> StateRecord:
    return StateRecord(time, 1, leader_epoch, start, batches)


def state(*records: StateRecord) -> ShareState:
    found = state_of(records)
    assert found
    return found


def test_updates_are_added_to_the_snapshot() -> None:
    found = state(
        snapshot(10, 5, StateBatch(5, 9, AVAILABLE, 1)),
        update(20, StateBatch(6, 7, ACKNOWLEDGED, 1), leader_epoch=4),
        update(30, StateBatch(9, 12, ACKNOWLEDGED, 2)),
    )
    assert found.batches == (
        StateBatch(5, 5, AVAILABLE, 1),
        StateBatch(6, 7, ACKNOWLEDGED, 1),
        StateBatch(8, 8, AVAILABLE, 1),
        StateBatch(9, 12, ACKNOWLEDGED, 2),
    )
    assert (found.snapshot_epoch, found.state_epoch, found.leader_epoch, found.start_offset) == (1, 2, 4, 5)


def test_start_offset_of_updates_removes_older_batches() -> None:
    found = state(
        snapshot(10, 0, StateBatch(0, 9, ACKNOWLEDGED, 1)),
        update(20, StateBatch(0, 3, ARCHIVED, 2), start=8),
        update(30, StateBatch(12, 12, AVAILABLE, 1)),
    )
    assert found.start_offset == 8
    assert found.batches == (StateBatch(8, 9, ACKNOWLEDGED, 1), StateBatch(12, 12, AVAILABLE, 1))


def test_last_snapshot_replaces_everything_before() -> None:
    found = state(
        snapshot(10, 0, StateBatch(0, 9, ACKNOWLEDGED, 1)),
        update(20, StateBatch(10, 11, ACKNOWLEDGED, 1)),
        snapshot(30, 100, epoch=2),
    )
    assert (found.start_offset, found.batches, found.snapshot_epoch) == (100, (), 2)


def test_updates_without_a_snapshot_are_no_state() -> None:
    assert state_of([update(20, StateBatch(6, 7, ACKNOWLEDGED, 1))]) is None
    assert state_of([]) is None


def test_progress_is_the_last_record_that_finishes_records_or_moves_the_start_offset() -> None:
    begin = snapshot(10, 5)
    released = update(40, StateBatch(7, 7, AVAILABLE, 1))
    other_leader = update(50, leader_epoch=9, start=5)
    assert state(begin, released, other_leader).progress == Between(10, 10)
    finished = update(20, StateBatch(6, 6, ARCHIVED, 1))
    assert state(begin, finished, released, other_leader).progress == Between(20, 20)
    assert state(begin, finished, update(30, start=7), released).progress == Between(30, 30)


def test_copied_snapshot_is_no_progress() -> None:
    copied = snapshot(90, 5, created=10)
    assert state(copied).progress == Between(10, 90)
    assert state(copied, update(95, StateBatch(7, 7, AVAILABLE, 1))).progress == Between(10, 90)
    assert state(snapshot(80, 5, created=10), copied).progress == Between(10, 80)
    finished = update(20, StateBatch(6, 6, ACKNOWLEDGED, 1))
    assert state(snapshot(10, 5), finished, copied).progress == Between(20, 20), "older records were still there"


def test_start_offset_stands_since_the_oldest_record_that_has_it() -> None:
    assert state(snapshot(10, 5), update(20), update(30, start=5)).start_since == 10
    assert state(snapshot(10, 5), update(20, start=8), update(30)).start_since == 20
    assert state(snapshot(10, 8), snapshot(20, 8), update(30)).start_since == 10
