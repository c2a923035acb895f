"""List groups: ListGroups to all brokers at the same time, filtered by the brokers that support it.

Before ListGroups v4 (Kafka 2.6) a broker does not report states: if they are required, its groups are described, and
filtered here. Before v5 (Kafka 3.8) it does not report types, which is a notice, or a failure if groups are filtered
by type.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.groups import CONSUMER_GROUPS, GroupId, GroupState, GroupType, ListedGroup
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope, merge
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import as_answered
from kgroups.protocol.apis import describe_groups, list_groups

from ..routing.backoff import Backoff
from ..routing.coverage import NO_CHECK, Checked, Coverage, list_checked

if TYPE_CHECKING:
    from .pattern import Glob


class ListFilter(NamedTuple):
    """The groups to list, each field empty for any; ``with_states`` and ``with_types`` request the columns."""

    states: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    protocol_types: tuple[str, ...] = ()
    with_states: bool = False
    with_types: bool = False
    coordinators: tuple[Glob, ...] = ()
    """Each matches the ID, the host, or ``host:port`` of brokers."""

    @property
    def restricts(self) -> bool:
        """Whether it excludes groups."""
        return bool(self.states or self.types or self.protocol_types or self.coordinators)


EVERY_GROUP = ListFilter()
CONSUMERS = ListFilter(protocol_types=CONSUMER_GROUPS)
SHARERS = ListFilter(types=(GroupType.SHARE,))
STREAMERS = ListFilter(types=(GroupType.STREAMS,))


async def fetch_groups(
    cluster: Cluster, wanted: ListFilter = EVERY_GROUP, every: set[GroupId] | None = None
) -> Outcome[ListedGroup]:
    """Return the matching groups, sorted by name, and a failure for each broker that did not respond.

    :param every: if given, brokers list all groups, and the names of all are added to it.
    """
    merged = merge([outcome async for outcome in stream_groups(cluster, wanted, every)])
    by_broker = sorted(merged.failures, key=lambda failure: -1 if failure.broker is None else failure.broker)
    outcome = merged.with_items(sorted(merged.items, key=_name))
    return outcome._replace(failures=tuple(by_broker), notices=tuple(sorted(merged.notices)))


async def stream_groups(
    cluster: Cluster, wanted: ListFilter = EVERY_GROUP, every: set[GroupId] | None = None
) -> AsyncGenerator[Outcome[ListedGroup]]:
    """Yield the matching groups of each broker as soon as its list arrives, each group once, in no order.

    If coordinators moved in the meantime, brokers are listed again. The last outcome holds the dead groups that were
    deferred, and what is missing: brokers that failed, and partitions of the offsets topic whose groups no broker
    listed.

    :param every: if given, brokers list all groups, and the names of all are added to it.
    """
    coverage = Coverage(cluster)
    brokers = await coverage.begin()
    yielded: set[GroupId] = set()
    dead: list[ListedGroup] = []
    while brokers:
        cluster.progress.begin("brokers listed", len(brokers), again=True)
        jobs = [(node, _list(cluster, node, wanted, coverage.names(brokers[node]), every)) for node in brokers]
        async with aclosing(as_answered(jobs)) as results:
            async for node, result in results:
                if isinstance(result, KgroupsError):
                    coverage.mark_failed(node, brokers[node], _failure(node, result))
                    continue
                coverage.mark_listed(node, brokers[node], result.checked)
                if result.checked.lost:
                    coverage.mark_failed(node, brokers[node], _failure(node, result.checked.lost))
                # A group that two brokers list is moving: its old coordinator may report it as dead.
                listed = matching(result.outcome.items, wanted)
                dead += [group for group in listed if group.state == GroupState.DEAD]
                yield result.outcome.with_items(_new(listed, yielded))
        brokers = await coverage.again()
    yield Outcome(tuple(_new(dead, yielded, dead=True)), coverage.failures())


class _Listed(NamedTuple):
    outcome: Outcome[ListedGroup]
    checked: Checked = NO_CHECK


async def _list(
    cluster: Cluster, node: Node, wanted: ListFilter, names: Mapping[GroupId, int], every: set[GroupId] | None
) -> _Listed:
    versions = await cluster.versions(node)
    knows_states = versions.speaks(list_groups.API, list_groups.STATES)
    knows_types = versions.speaks(list_groups.API, list_groups.TYPES)
    unfilterable: Outcome[ListedGroup] = Outcome()
    if wanted.types and not knows_types:
        error = UnsupportedVersion(f"cannot filter by type: this broker {_TYPELESS}")
        unfilterable = Outcome(failures=(_failure(node, error),))
        if every is None:
            return _Listed(unfilterable)
    notices = (f"{node} {_TYPELESS}; TYPE is unknown",) if wanted.with_types and not knows_types else ()
    call = list_groups.ListGroups(wanted.states, wanted.types) if every is None else list_groups.ListGroups()
    listed, checked = await _retry(cluster, node, call, names)
    cluster.progress.advance("brokers listed")
    if every is not None:
        every.update(map(_name, listed.items))
    if unfilterable.failures:
        return _Listed(unfilterable.with_failures(listed.failures), checked)
    if (wanted.states or wanted.with_states) and not knows_states:
        listed = merge([await _with_states(cluster, node, listed.items), listed.with_items(())])
    return _Listed(listed.with_failures((), notices), checked)


_TYPELESS = "does not report group types (ListGroups v5, Kafka 3.8)"


_name = attrgetter("group")


async def _retry(cluster: Cluster, node: Node, call: list_groups.ListGroups, names: Mapping[GroupId, int]) -> _Listed:
    """List a broker's groups until it has loaded all of them; add a failure if it has not when the time is up."""
    backoff = Backoff.of(cluster)
    while True:
        (error, entries), checked = await list_checked(cluster, node, call, names)
        groups = tuple(
            [
                ListedGroup(group, protocol_type, node, state, group_type)
                for group, protocol_type, state, group_type in entries
            ]
        )
        if error is None:
            return _Listed(Outcome(groups), checked)
        if not error.code.retriable or not await backoff.wait():
            failure = error.failure(Scope.BROKER, str(node), api=list_groups.API.name, broker=node.id)
            return _Listed(Outcome(groups, (failure,)))


async def _with_states(cluster: Cluster, node: Node, listed: Sequence[ListedGroup]) -> Outcome[ListedGroup]:
    """Add states from DescribeGroups to listed groups; drop those that no longer exist."""
    from ..routing.query_coordinators import GroupQuery, query_coordinators

    query = GroupQuery("states", describe_groups.API, describe_groups.DescribeGroups)
    by_name = {group.group: group for group in listed}
    results = await query_coordinators(cluster, query, dict.fromkeys(by_name, node))
    found = [by_name[name]._replace(state=group.state) for name, (_, group) in results.found.items()]
    failures = [failure for failure in results.failed.values() if failure.error != NOT_FOUND]
    return Outcome(tuple(found), tuple(failures))


def _failure(node: Node, error: KgroupsError) -> Failure:
    return Failure.of(error, Scope.BROKER, str(node), api="ListGroups", broker=node.id)


def _new(listed: Iterable[ListedGroup], yielded: set[GroupId], *, dead: bool = False) -> list[ListedGroup]:
    """Return the groups that were not yielded yet, dead groups only with ``dead``; add them to ``yielded``."""
    new = [group for group in listed if group.group not in yielded and (dead or group.state != GroupState.DEAD)]
    yielded.update(map(_name, new))
    return new


def matching(listed: Iterable[ListedGroup], wanted: ListFilter) -> list[ListedGroup]:
    """Filter the groups again: old brokers do not filter, and newer ones may interpret the filter differently."""
    if not wanted.restricts:
        return list(listed)
    if wanted.coordinators:
        groups = list(listed)
        chosen = {
            node
            for node in {group.coordinator for group in groups}
            if any(is_broker(node, glob) for glob in wanted.coordinators)
        }
        listed = [group for group in groups if group.coordinator in chosen]
    return [
        group
        for group in listed
        if (not wanted.states or group.state in wanted.states)
        and (not wanted.types or group.type in wanted.types)
        and (not wanted.protocol_types or group.protocol_type in wanted.protocol_types)
    ]


def is_broker(node: Node, glob: Glob) -> bool:
    """Return whether a glob matches the ID, the host, or ``host:port`` of a broker."""
    return any(map(glob.fullmatch, (str(node.id), node.host, node.address)))
