"""The number of rebalances of groups during repeated sampling."""

from __future__ import annotations

from typing import NamedTuple

from kgroups.model.groups import Group, GroupId, GroupState, Member


class _Sample(NamedTuple):
    epoch: int | None
    under_way: bool
    holding: int
    """A hash of the members and their assignments."""
    members: tuple[Member, ...] | None


class Rebalances:
    """Count rebalances of each group from sample to sample; there may have been more.

    A KIP-848 group has a new epoch for each. A classic group shows it by its state, or by partitions that changed
    members.
    """

    def __init__(self) -> None:
        self._last: dict[GroupId, _Sample] = {}
        self._counts: dict[GroupId, int] = {}

    def add(self, group: Group) -> None:
        before = self._last.get(group.group)
        now = _sample(group, before)
        self._last[group.group] = now
        if before is not None and (count := _between(before, now)):
            self._counts[group.group] = self.count(group.group) + count

    def count(self, name: GroupId) -> int:
        """Return the number since the first sample of this group."""
        return self._counts.get(name, 0)

    def drop(self, name: GroupId) -> None:
        """Drop a deleted group; a new group with its name starts at 0."""
        self._last.pop(name, None)
        self._counts.pop(name, None)

    @property
    def names(self) -> frozenset[GroupId]:
        """The groups that were sampled."""
        return frozenset(self._last)


def _sample(group: Group, before: _Sample | None) -> _Sample:
    if before is not None and before.members is group.members:  # often: repeated polls return the same object
        holding = before.holding
    else:
        holding = hash(frozenset((member.member_id, member.assignment) for member in group.members or ()))
    return _Sample(group.group_epoch, group.state in GroupState.REBALANCING, holding, group.members)


def _between(before: _Sample, now: _Sample) -> int:
    if before.epoch is not None and now.epoch is not None:
        return max(0, now.epoch - before.epoch)
    if now.under_way or before.under_way:
        return int(not before.under_way)
    return int(before.holding != now.holding)
