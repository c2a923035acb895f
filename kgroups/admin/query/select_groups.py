"""Select groups by name, regular expression, or topic, or all; and find their coordinators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId, GroupType, ListedGroup
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster

from ..routing.coordinators import find_coordinators
from .list_groups import EVERY_GROUP, ListFilter, fetch_groups


class NamePattern(Protocol):
    """Matches whole names: a :class:`kgroups.admin.query.pattern.Pattern`, or globs that were translated."""

    def fullmatch(self, string: str, /) -> object:
        """Return something true if the whole name matches."""


class Selection(NamedTuple):
    """The groups to query: the union of ``names``, ``pattern``, and ``everything``, restricted by ``topics``."""

    names: tuple[GroupId, ...] = ()
    pattern: NamePattern | None = None
    """Selects the groups whose whole name matches."""
    everything: bool = False
    topics: frozenset[str] = frozenset()
    """Keeps only groups with commits or assignments on one of these topics; of all groups if nothing else is set."""
    among: ListFilter = EVERY_GROUP
    """Restricts the groups that are not selected by name."""

    def unmatched(self, listed: Iterable[GroupId]) -> tuple[Failure, ...]:
        """Return a failure if the pattern matches no listed group; for operations that change groups."""
        if self.pattern is None or any(map(self.pattern.fullmatch, listed)):
            return ()
        text = getattr(self.pattern, "text", "")
        return (Failure(Scope.CLUSTER, "", f"no group matches --regex {text!r} (the whole name must)"),)

    @property
    def needs_list(self) -> bool:
        """Whether the groups of the cluster must be listed to resolve the selection."""
        return bool(self.everything or self.pattern or not self.names)

    def matches(self, name: GroupId) -> bool:
        """Return whether a listed group is selected, apart from ``topics``."""
        if self.everything or name in self.names or (self.pattern and self.pattern.fullmatch(name)):
            return True
        return not self.names and self.pattern is None  # by topic alone


class ResolvedSelection(NamedTuple):
    """The selected groups with their coordinators: those that were listed, and the others that were named."""

    listed: tuple[ListedGroup, ...] = ()
    named: Mapping[GroupId, Node] = MappingProxyType({})
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()

    def with_commits(self) -> dict[GroupId, Node | None]:
        """Return the groups that may commit offsets, with their coordinators: share groups do not commit."""
        listed = {
            group.group_id: group.coordinator for group in self.listed if group.type not in GroupType.WITHOUT_COMMITS
        }
        return {**self.named, **listed}


async def resolve(cluster: Cluster, selection: Selection) -> ResolvedSelection:
    """List the groups if necessary, and look up the coordinators of named groups that were not listed.

    Listed groups need no FindCoordinator: only the coordinator of a group lists it.
    """
    listed: tuple[ListedGroup, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    if selection.needs_list:
        outcome = await fetch_groups(cluster, selection.among)
        listed = tuple(group for group in outcome.items if selection.matches(group.group_id))
        failures, notices = outcome.failures, outcome.notices
    unlisted = set(selection.names) - {group.group_id for group in listed}
    named, lost = await find_coordinators(cluster, sorted(unlisted)) if unlisted else ({}, {})
    return ResolvedSelection(listed, named, (*failures, *(lost[name] for name in sorted(lost))), notices)
