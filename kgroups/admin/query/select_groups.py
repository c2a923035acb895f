"""Select groups by name, pattern, topic, state, type, coordinator, or member, or all; and find their coordinators."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Container, Iterable, Mapping
from contextlib import aclosing
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kgroups.errors import BrokerUnavailable, Reason, UsageError
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType, ListedGroup
from kgroups.model.outcome import NO_MATCH, Failure, Outcome, Scope, hides_groups
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import list_groups
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error

from ..routing.coordinators import known_coordinators
from .list_groups import EVERY_GROUP, ListFilter, fetch_groups, is_broker, stream_groups

if TYPE_CHECKING:
    from .member_filter import MemberFilter
    from .pattern import Glob, Pattern

T = TypeVar("T")


class Selection(NamedTuple):
    """The groups to query: the union of ``names``, ``globs``, ``pattern``, and ``everything``, restricted."""

    names: tuple[GroupId, ...] = ()
    pattern: Pattern | Glob | None = None
    """Selects the groups whose whole name matches."""
    everything: bool = False
    topics: frozenset[str] = frozenset()
    """Keeps only groups with commits or assignments on one of these topics; of all groups if nothing else is set."""
    among: ListFilter = EVERY_GROUP
    """Restricts the groups that are not selected by name."""
    globs: tuple[Glob, ...] = ()
    """Each selects the groups whose whole name matches; if one has exactly this name, only that group."""
    excluded: Pattern | None = None
    """Leaves out the groups, not selected by name, whose whole name matches."""
    members: MemberFilter | None = None
    """Restricts the groups that are not selected by name to those with such a member."""

    def unmatched(self, listed: Iterable[GroupId]) -> tuple[Failure, ...]:
        """Return a failure if the pattern matches no listed group; for operations that change groups."""
        if self.pattern is None or any(map(self.pattern.fullmatch, listed)):
            return ()
        return (
            Failure(
                Scope.CLUSTER,
                "",
                f"{NO_MATCH} --regex {self.pattern.text!r} (the whole name must)",
                reason=Reason.NO_MATCH,
            ),
        )

    def unmatched_globs(self, listed: Collection[GroupId]) -> tuple[Failure, ...]:
        """Return a failure for each glob that matches no listed group."""
        error = KafkaError(Code.group_id_not_found, "no group has this name or matches it")
        return tuple(
            error.failure(Scope.GROUP, glob.text, api="ListGroups")
            for glob in self.globs
            if not any(map(glob.fullmatch, listed))
        )

    def check_complete(self, failures: Iterable[Failure]) -> None:
        """Check that the groups of globs are certain; for operations that change groups.

        :raises BrokerUnavailable: if groups may be missing: one may have the name that is taken for a glob.
        """
        missing = next(filter(hides_groups, failures), None)
        if self.globs and missing:
            raise BrokerUnavailable(
                f"{self.globs[0].text!r} may be the name of a group, and the list of groups is incomplete: "
                f"{missing.name}: {missing.message}; nothing was changed; select by name or --regex"
            )

    @property
    def needs_list(self) -> bool:
        """Whether the groups of the cluster must be listed to resolve the selection."""
        return bool(self.everything or self.pattern or self.globs or not self.names)

    @property
    def restricts(self) -> bool:
        """Whether it excludes groups that are selected by a pattern, or as all groups."""
        return self.among.restricts or self.members is not None or self.excluded is not None

    def settled(self, existing: Container[GroupId]) -> Selection:
        """Return the selection with each glob that is the name of an existing group as a name.

        :raises UsageError: if the selection is restricted, because a name is not.
        """
        literal = tuple(glob.text for glob in self.globs if glob.text in existing)
        if literal and self.restricts:
            raise UsageError(f"{literal[0]!r} is the name of a group, and only patterns can be filtered")
        globs = tuple(glob for glob in self.globs if glob.text not in literal)
        return self._replace(names=(*self.names, *literal), globs=globs)

    def matches(self, name: GroupId) -> bool:
        """Return whether a listed group is selected, apart from ``topics`` and ``members``."""
        if self.excluded and self.excluded.fullmatch(name):
            return False
        if self.everything or name in self.names or (self.pattern and self.pattern.fullmatch(name)):
            return True
        if self.globs:
            return any(glob.fullmatch(name) for glob in self.globs)
        return not self.names and self.pattern is None  # by topic, state, or type alone


class ResolvedSelection(NamedTuple):
    """The selected groups with their coordinators: those that were listed, and the others that were named."""

    listed: tuple[ListedGroup, ...] = ()
    named: Mapping[GroupId, Node] = MappingProxyType({})
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    types: Mapping[GroupId, str | None] = MappingProxyType({})
    """The types that named groups had a moment ago."""
    members: MemberFilter | None = None
    """Restricts the listed groups to those with such a member, as soon as they are described."""

    def with_commits(self) -> dict[GroupId, Node | None]:
        """Return the groups that may commit offsets, with their coordinators: share groups do not commit."""
        listed = {
            group.group: group.coordinator for group in self.listed if group.type not in GroupType.WITHOUT_COMMITS
        }
        return {**self.named, **listed}


async def resolve(cluster: Cluster, selection: Selection) -> ResolvedSelection:
    """List the groups if necessary, and look up the coordinators of named groups that were not listed.

    Listed groups need no FindCoordinator: only the coordinator of a group lists it.
    """
    found: Outcome[ListedGroup] = Outcome()
    if selection.needs_list:
        found = await _fetch_selected(cluster, selection)
    unlisted = set(selection.names) - set(map(_group, found.items))
    named, lost = await known_coordinators(cluster, sorted(unlisted)) if unlisted else ({}, {})
    failures = (*found.failures, *(lost[name] for name in sorted(lost)))
    return ResolvedSelection(found.items, named, failures, found.notices, members=selection.members)


async def stream_selected(cluster: Cluster, selection: Selection) -> AsyncGenerator[Outcome[ListedGroup]]:
    """Yield the selected groups of each broker as soon as its list arrives; with globs, of all brokers at once.

    ``topics`` and ``members`` are for groups that are described. A glob may be the name of a group, which any broker
    may list.
    """
    if selection.globs:
        yield await _fetch_selected(cluster, selection)
        return
    unused = selection.excluded is not None
    async with aclosing(stream_groups(cluster, selection.among)) as lists:
        async for outcome in lists:
            unused = unused and not _some_excluded(selection, map(_group, outcome.items))
            yield outcome.with_items(group for group in outcome.items if selection.matches(group.group))
    notices = (_unused(selection),) if unused else ()
    yield Outcome(failures=_unknown_coordinators(cluster, selection), notices=notices)


async def list_selected(cluster: Cluster, selection: Selection) -> Outcome[ListedGroup]:
    """Return the selected groups of the list; a named group that is not in it is a failure.

    ``topics`` and ``members`` are for groups that are described.
    """
    found = await note_missing_groups(cluster, None, await _fetch_selected(cluster, selection))
    return missing_as_failures(selection, found)


async def note_missing_groups(cluster: Cluster, selection: Selection | None, outcome: Outcome[T]) -> Outcome[T]:
    """Add a notice if groups may be missing in the list from which the selection was made.

    Groups selected by name need none: they have their own failures.
    """
    if selection and not selection.needs_list:
        return outcome
    rights = cluster.rights
    if rights.operations is None and await _lists_in_part(cluster):
        from .authorization import may_list_all

        rights.operations = frozenset({"DESCRIBE"} if await may_list_all(cluster) else ())
    if rights.operations is None or "DESCRIBE" in rights.operations:
        return outcome  # the usual case: do not load the module
    from .authorization import missing_acls, note_omitted_groups

    return note_omitted_groups(outcome, missing_acls(rights.operations))


async def _lists_in_part(cluster: Cluster) -> bool:
    node = cluster.nodes_by_health()[0]
    return await cluster.speaks(node, list_groups.API, list_groups.FILTERED)


async def _fetch_selected(cluster: Cluster, selection: Selection) -> Outcome[ListedGroup]:
    every: set[GroupId] | None = set() if selection.globs and selection.among.restricts else None
    listed = await fetch_groups(cluster, selection.among, every)
    return select(selection, listed, every).with_failures(_unknown_coordinators(cluster, selection))


def _unknown_coordinators(cluster: Cluster, selection: Selection) -> tuple[Failure, ...]:
    """Return a failure for each coordinator to select by that is not a broker of the cluster, or is down."""
    brokers = sorted(cluster.nodes.values())
    names = ", ".join(f"{node.id} ({node.address})" for node in brokers)
    return tuple(
        Failure(
            Scope.BROKER,
            glob.text,
            f"the cluster has no such broker, or it is down; brokers: {names}",
            reason=Reason.NO_MATCH,
        )
        for glob in selection.among.coordinators
        if not any(is_broker(node, glob) for node in brokers)
    )


def select(
    selection: Selection, listed: Outcome[ListedGroup], every: Collection[GroupId] | None = None
) -> Outcome[ListedGroup]:
    """Filter listed groups; add a failure for each glob without a match if the list is complete.

    :param listed: the groups that ``among`` allows.
    :param every: the names of all groups, if these are not all.
    """
    names = frozenset(map(_group, listed.items)) if every is None else every
    settled = selection.settled(names)
    failures = tuple(dict.fromkeys(listed.failures))
    items = tuple([group for group in listed.items if settled.matches(group.group)])
    selected = listed._replace(items=items, failures=failures or settled.unmatched_globs(names))
    if selection.excluded is None or _some_excluded(selection, map(_group, listed.items)):
        return selected
    return selected.with_failures((), (_unused(selection),))


def _some_excluded(selection: Selection, names: Iterable[GroupId]) -> bool:
    return selection.excluded is not None and any(map(selection.excluded.fullmatch, names))


def _unused(selection: Selection) -> str:
    text = selection.excluded.text if selection.excluded else ""
    return f"--exclude {text!r} leaves out no group: the whole name must match the regular expression"


def missing_as_failures(selection: Selection, found: Outcome[ListedGroup]) -> Outcome[ListedGroup]:
    """Add a failure for each named group that was not found."""
    missing = sorted(set(selection.names) - set(map(_group, found.items)))
    error = kafka_error(Code.group_id_not_found)
    return found.with_failures(error.failure(Scope.GROUP, name, api="ListGroups") for name in missing)


def keep_described(listed: Outcome[ListedGroup], described: Outcome[Group]) -> Outcome[ListedGroup]:
    """Keep the described groups, those with the selected topics and members; add what is unknown about others."""
    using = set(map(_group, described.items))
    known = {failure.name for failure in listed.failures}
    kept = listed.with_items(group for group in listed.items if group.group in using)
    return kept.with_failures(each for each in described.failures if each.name not in known)


_group = attrgetter("group")
