"""Which groups are meant: by name, by regular expression, by topic, or all; and where each is to be asked."""

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
    """Names, and groups whose whole name matches ``pattern``, and with ``everything`` all there are; of those that are
    not named only such as ``among`` lets pass.

    ``topics`` keeps of these the groups that have commits or assignments on one of them; where nothing else is said,
    of all groups.
    """

    names: tuple[GroupId, ...] = ()
    pattern: NamePattern | None = None
    everything: bool = False
    topics: frozenset[str] = frozenset()
    among: ListFilter = EVERY_GROUP

    def unmatched(self, listed: Iterable[GroupId]) -> tuple[Failure, ...]:
        """The failure of a pattern that matches no listed group; for operations that change groups."""
        if self.pattern is None or any(map(self.pattern.fullmatch, listed)):
            return ()
        text = getattr(self.pattern, "text", "")
        return (Failure(Scope.CLUSTER, "", f"no group matches --regex {text!r} (the whole name must)"),)

    @property
    def needs_list(self) -> bool:
        """Whether the cluster's groups have to be listed to know which are meant."""
        return bool(self.everything or self.pattern or not self.names)

    def matches(self, name: GroupId) -> bool:
        if self.everything or name in self.names or (self.pattern and self.pattern.fullmatch(name)):
            return True
        return not self.names and self.pattern is None  # by topic alone


class ResolvedSelection(NamedTuple):
    """The groups that are meant: those the list told of, and the named ones, each with its coordinator."""

    listed: tuple[ListedGroup, ...] = ()
    named: Mapping[GroupId, Node] = MappingProxyType({})
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()

    def with_commits(self) -> dict[GroupId, Node | None]:
        """Group -> coordinator, of the groups that may commit offsets: share groups do not."""
        listed = {
            group.group_id: group.coordinator for group in self.listed if group.type not in GroupType.WITHOUT_COMMITS
        }
        return {**self.named, **listed}


async def resolve(cluster: Cluster, selection: Selection) -> ResolvedSelection:
    """Lists the groups where that is needed, and looks up the coordinators of those only named.

    What the list tells needs no FindCoordinator: only a group's coordinator lists it.
    """
    listed: tuple[ListedGroup, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    if selection.needs_list:
        answer = await fetch_groups(cluster, selection.among)
        listed = tuple(group for group in answer.items if selection.matches(group.group_id))
        failures, notices = answer.failures, answer.notices
    unlisted = set(selection.names) - {group.group_id for group in listed}
    named, lost = await find_coordinators(cluster, sorted(unlisted)) if unlisted else ({}, {})
    return ResolvedSelection(listed, named, (*failures, *(lost[name] for name in sorted(lost))), notices)
