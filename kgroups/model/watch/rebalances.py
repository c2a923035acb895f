"""How often groups rebalanced while somebody looked."""

from __future__ import annotations

from typing import NamedTuple

from ..groups import Group, GroupId, GroupState


class _Look(NamedTuple):
    epoch: int | None
    under_way: bool
    holding: int
    """A hash of who is in it, and what each holds."""


class Rebalances:
    """Counts, of each group, the rebalances that show from one look to the next: at least so many there were.

    Each gives a KIP-848 group a new epoch; a classic group shows it in its state, or in partitions that changed hands.
    """

    def __init__(self) -> None:
        self._last: dict[GroupId, _Look] = {}
        self._counts: dict[GroupId, int] = {}

    def look(self, group: Group) -> None:
        now = _look(group)
        before = self._last.get(group.group_id)
        self._last[group.group_id] = now
        if before is not None and (count := _between(before, now)):
            self._counts[group.group_id] = self.count(group.group_id) + count

    def count(self, name: GroupId) -> int:
        """Since the first look at this group."""
        return self._counts.get(name, 0)

    def forget(self, name: GroupId) -> None:
        """It is gone; one that comes by that name begins anew."""
        self._last.pop(name, None)
        self._counts.pop(name, None)

    @property
    def names(self) -> frozenset[GroupId]:
        """The groups that were looked at."""
        return frozenset(self._last)


def _look(group: Group) -> _Look:
    holding = frozenset((member.member_id, member.assignment) for member in group.members or ())
    return _Look(group.group_epoch, group.state in GroupState.REBALANCING, hash(holding))


def _between(before: _Look, now: _Look) -> int:
    if before.epoch is not None and now.epoch is not None:
        return max(0, now.epoch - before.epoch)
    if now.under_way or before.under_way:
        return int(not before.under_way)
    return int(before.holding != now.holding)
