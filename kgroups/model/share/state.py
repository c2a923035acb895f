"""The state of a partition of a share group, from its records in ``__share_group_state``. Times are in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .batches import StateBatch, clip, combine

UNCHANGED = -1
"""Stands for the start offset and the leader epoch in updates that do not change them."""


class StateRecord(NamedTuple):
    """A snapshot, or an update of the last one.

    ``created`` and ``rewritten`` exist in snapshots only, ``rewritten`` only if the coordinator copied the state of an
    idle partition, so that it can delete older records; ``created`` is then that of the previous snapshot.
    """

    timestamp: int
    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    batches: tuple[StateBatch, ...]
    state_epoch: int | None = None
    """``None`` in updates."""
    created: int | None = None
    rewritten: int | None = None

    @property
    def is_snapshot(self) -> bool:
        return self.state_epoch is not None


class Between(NamedTuple):
    """A time that is not known exactly, unless both ends are equal; milliseconds since 1970."""

    earliest: int
    latest: int

    @property
    def is_exact(self) -> bool:
        return self.earliest == self.latest


class ShareState(NamedTuple):
    """The state of a partition of a share group.

    ``batches`` do not overlap. ``progress``: when records were last finished, or the start offset last moved.
    ``start_since``: the start offset has not moved since then, at least.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    batches: tuple[StateBatch, ...]
    progress: Between
    start_since: int


def state_of(records: Sequence[StateRecord]) -> ShareState | None:
    """Return the state after these records; ``None`` without a snapshot.

    :param records: in the order of the log, from any record on.
    """
    begin = next((at for at in reversed(range(len(records))) if records[at].is_snapshot), None)
    if begin is None:
        return None
    snapshot = records[begin]
    start, leader_epoch = snapshot.start_offset, snapshot.leader_epoch
    for update in records[begin + 1 :]:
        start = start if update.start_offset == UNCHANGED else update.start_offset
        leader_epoch = leader_epoch if update.leader_epoch == UNCHANGED else update.leader_epoch
    # The coordinator forgets what is below the start offset of each record, also if the offset decreases later.
    batches: list[StateBatch] = []
    floor = start
    for record in reversed(records[begin:]):
        floor = max(floor, record.start_offset)
        batches += clip(record.batches, floor)
    return ShareState(
        snapshot_epoch=snapshot.snapshot_epoch,
        state_epoch=snapshot.state_epoch or 0,
        leader_epoch=leader_epoch,
        start_offset=start,
        batches=combine(batches),
        progress=_progress(records),
        start_since=_start_since(records, start),
    )


def _progress(records: Sequence[StateRecord]) -> Between:
    """Return when a record was written that finishes records or moves the start offset, or else when the state was.

    The snapshot of an idle partition is a copy, so progress was made before it, and not before ``created``.
    """
    found = Between(0, 0)
    for at in reversed(range(len(records))):
        record = records[at]
        if record.rewritten is not None:
            found = Between(record.created or found.earliest, record.rewritten)
        elif record.is_snapshot or any(batch.finished for batch in record.batches) or _moves_start(records, at):
            return Between(record.timestamp, record.timestamp)
    return found


def _moves_start(records: Sequence[StateRecord], at: int) -> bool:
    """Return whether an update changes the start offset; unknown without an older record, then ``False``."""
    start = records[at].start_offset
    before = next((each.start_offset for each in reversed(records[:at]) if each.start_offset != UNCHANGED), start)
    return start not in (UNCHANGED, before)


def _start_since(records: Sequence[StateRecord], start: int) -> int:
    """Return the time of the oldest of these records from which on the start offset is the same."""
    since = records[-1].timestamp
    for record in reversed(records):
        if record.start_offset not in (UNCHANGED, start):
            break
        since = record.timestamp
    return since
