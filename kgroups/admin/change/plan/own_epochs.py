"""Write no leader epoch that the log of its partition does not have: Java consumers with a later one read nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Move, PlanKey
from kgroups.model.operations.reset import PlannedOffset

from ...query.leader_epochs import EpochAt
from .lookups import Lookups


class OwnEpochs:
    """Compares the leader epochs of commits with the logs; each one is looked up once."""

    def __init__(self, lookups: Lookups, without: Collection[GroupId] = ()) -> None:
        """:param without: groups whose offsets are written without leader epochs: share groups."""
        self._lookups = lookups
        self._without = without
        self._in_log: dict[EpochAt, bool | None] = {}

    async def look_up(self, moves: Iterable[tuple[PlanKey, Move]]) -> None:
        """Look up the leader epochs of commits."""
        wanted = {at for key, move in moves if (at := self._epoch_at(key, move))} - self._in_log.keys()
        if wanted:
            self._in_log.update(dict.fromkeys(wanted))
            self._in_log.update(await self._lookups.epochs_in_log(frozenset(wanted)))

    def own(self, key: PlanKey, move: Move) -> Move:
        """Return a commit as it may be written: without an epoch that is not known to be of the log."""
        at = self._epoch_at(key, move)
        return move if at is None or move is None or self._in_log.get(at, True) else move._replace(leader_epoch=None)

    async def applied(self, planned: Iterable[PlannedOffset]) -> list[PlannedOffset]:
        """Return planned offsets as they may be written, with notes."""
        entries = list(planned)
        await self.look_up((entry.key, entry.after) for entry in entries)
        return [self._noted(entry) for entry in entries]

    def _noted(self, entry: PlannedOffset) -> PlannedOffset:
        after = self.own(entry.key, entry.after)
        if after == entry.after:
            return entry
        at = self._epoch_at(entry.key, entry.after)
        why = (
            "which OffsetForLeaderEpoch could not check"
            if at and self._in_log[at] is None
            else "which is not of this log"
        )
        note = f"written without leader epoch {at.epoch if at else None}, {why}"
        return entry._replace(after=after, note=f"{entry.note}; {note}" if entry.note else note)

    def _epoch_at(self, key: PlanKey, move: Move) -> EpochAt | None:
        group, topic, partition = key
        if move is None or move.leader_epoch is None or group in self._without:
            return None
        return EpochAt(topic, partition, move.offset, move.leader_epoch)
