"""Write no leader epoch that the log of its partition does not have: Java consumers with a later one read nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Move, PlanKey
from kgroups.model.operations.reset import PlannedOffset

from ...query.leader_epochs import EpochAt

Epochs = Mapping[EpochAt, bool | None]
"""Whether the log of its partition has each leader epoch at that offset; ``None`` if no broker reports it."""


class OwnEpochs(NamedTuple):
    """The leader epochs that commits may be written with.

    ``without``: groups whose offsets are written without leader epochs: share groups.
    """

    in_log: Epochs
    without: Collection[GroupId] = ()

    def of(self, moves: Iterable[tuple[PlanKey, Move]]) -> set[EpochAt]:
        """Return the leader epochs of commits, to look up whether their logs have them."""
        return {at for key, move in moves if (at := self._epoch_at(key, move))}

    def own(self, key: PlanKey, move: Move) -> Move:
        """Return a commit as it may be written: without an epoch that is not known to be of the log."""
        at = self._epoch_at(key, move)
        return move if at is None or move is None or self.in_log.get(at, True) else move._replace(leader_epoch=None)

    def noted(self, entry: PlannedOffset) -> PlannedOffset:
        """Return a planned offset as it may be written, with a note if that is without its epoch."""
        after = self.own(entry.key, entry.after)
        if after == entry.after:
            return entry
        at = self._epoch_at(entry.key, entry.after)
        why = (
            "which OffsetForLeaderEpoch could not check"
            if at and self.in_log[at] is None
            else "which is not of this log"
        )
        note = f"written without leader epoch {at.epoch if at else None}, {why}"
        return entry._replace(after=after, note=f"{entry.note}; {note}" if entry.note else note)

    def _epoch_at(self, key: PlanKey, move: Move) -> EpochAt | None:
        group, topic, partition = key
        if move is None or move.leader_epoch is None or group in self.without:
            return None
        return EpochAt(topic, partition, move.offset, move.leader_epoch)
