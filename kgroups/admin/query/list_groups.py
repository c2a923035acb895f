"""Which groups exist: ListGroups to every broker at once, filtered by the broker where it can.

Below ListGroups v4 (Kafka 2.6) a broker knows no states: where they are wanted, its groups are described and filtered
here. Below v5 (Kafka 3.8) it knows no types, and that cannot be made good: it is said.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from operator import attrgetter
from typing import NamedTuple

from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.groups import CONSUMER_GROUPS, GroupId, GroupState, GroupType, ListedGroup
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope, merge
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import as_answered
from kgroups.protocol.apis import list_groups

from ..routing.backoff import Backoff
from ..routing.coverage import NO_CHECK, Checked, Coverage, list_checked


class ListFilter(NamedTuple):
    """Which groups are wanted; empty means any. ``with_states`` and ``with_types``: the columns are wanted too."""

    states: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    protocol_types: tuple[str, ...] = ()
    with_states: bool = False
    with_types: bool = False


EVERY_GROUP = ListFilter()
CONSUMERS = ListFilter(protocol_types=CONSUMER_GROUPS)
SHARERS = ListFilter(types=(GroupType.SHARE,))
STREAMERS = ListFilter(types=(GroupType.STREAMS,))


async def fetch_groups(cluster: Cluster, wanted: ListFilter = EVERY_GROUP) -> Outcome[ListedGroup]:
    """Every group that matches, sorted by name; a broker that does not answer is a failure beside them."""
    merged = merge([outcome async for outcome in stream_groups(cluster, wanted)])
    by_place = sorted(merged.failures, key=lambda failure: -1 if failure.broker is None else failure.broker)
    answer = merged.with_items(sorted(merged.items, key=_name))
    return answer._replace(failures=tuple(by_place), notices=tuple(sorted(merged.notices)))


async def stream_groups(cluster: Cluster, wanted: ListFilter = EVERY_GROUP) -> AsyncGenerator[Outcome[ListedGroup]]:
    """Yield the matching groups of each broker as soon as its list arrives, each group once, in no order.

    Where coordinators moved meanwhile, brokers are listed again. The last outcome holds what was held back until then,
    and what is missing: brokers that failed, and partitions of the offsets topic whose groups no broker listed.
    """
    coverage = Coverage(cluster)
    turns = await coverage.begin()
    yielded: set[GroupId] = set()
    dead: list[ListedGroup] = []
    while turns:
        cluster.progress.begin("brokers listed", len(turns), again=True)
        jobs = [(node, _list(cluster, node, wanted, coverage.names(turns[node]))) for node in turns]
        async with aclosing(as_answered(jobs)) as answers:
            async for node, answer in answers:
                if isinstance(answer, KgroupsError):
                    coverage.broken(node, turns[node], _broken(node, answer))
                    continue
                coverage.listed(node, turns[node], answer.checked)
                if answer.checked.lost:
                    coverage.broken(node, turns[node], _broken(node, answer.checked.lost))
                # A group that two brokers list is moving: the one that lets go may call it dead.
                listed = _matching(answer.outcome.items, wanted)
                dead += [group for group in listed if group.state == GroupState.DEAD]
                yield answer.outcome.with_items(_new(listed, yielded))
        turns = await coverage.again()
    yield Outcome(tuple(_new(dead, yielded, dead=True)), coverage.failures())


class _Listed(NamedTuple):
    outcome: Outcome[ListedGroup]
    checked: Checked = NO_CHECK


async def _list(cluster: Cluster, node: Node, wanted: ListFilter, names: Mapping[GroupId, int]) -> _Listed:
    versions = await cluster.versions(node)
    knows_states = versions.speaks(list_groups.API, list_groups.STATES)
    knows_types = versions.speaks(list_groups.API, list_groups.TYPES)
    if wanted.types and not knows_types:
        error = UnsupportedVersion(f"cannot filter by type: this broker {_TYPELESS}")
        return _Listed(Outcome(failures=(_broken(node, error),)))
    notices = (f"{node} {_TYPELESS}; TYPE is unknown",) if wanted.with_types and not knows_types else ()
    listed, checked = await _retry(cluster, node, list_groups.ListGroups(wanted.states, wanted.types), names)
    cluster.progress.advance("brokers listed")
    if (wanted.states or wanted.with_states) and not knows_states:
        listed = merge([await _with_states(cluster, node, listed.items), listed.with_items(())])
    return _Listed(listed.with_failures((), notices), checked)


_TYPELESS = "does not report group types (ListGroups v5, Kafka 3.8)"


_name = attrgetter("group_id")


async def _retry(cluster: Cluster, node: Node, call: list_groups.ListGroups, names: Mapping[GroupId, int]) -> _Listed:
    """Asks until the broker has loaded all of its groups; what is there when patience ends comes with a failure."""
    backoff = Backoff(cluster)
    while True:
        (error, entries), checked = await list_checked(cluster, node, call, names)
        groups = tuple(
            [ListedGroup(group, protocol_type, node, state, kind) for group, protocol_type, state, kind in entries]
        )
        if error is None:
            return _Listed(Outcome(groups), checked)
        if not error.code.retriable or not await backoff.wait():
            failure = error.failure(Scope.BROKER, str(node), api=list_groups.API.name, broker=node.id)
            return _Listed(Outcome(groups, (failure,)))


async def _with_states(cluster: Cluster, node: Node, listed: Sequence[ListedGroup]) -> Outcome[ListedGroup]:
    """The same groups with the states that DescribeGroups tells; one that vanished meanwhile is no longer listed."""
    from kgroups.protocol.apis import describe_groups

    from ..routing.query_coordinators import GroupQuery, query_coordinators

    query = GroupQuery("states", describe_groups.API, describe_groups.DescribeGroups)
    by_name = {group.group_id: group for group in listed}
    answers = await query_coordinators(cluster, query, dict.fromkeys(by_name, node))
    found = [by_name[name]._replace(state=group.state) for name, (_, group) in answers.found.items()]
    failures = [failure for failure in answers.failed.values() if failure.error != NOT_FOUND]
    return Outcome(tuple(found), tuple(failures))


def _broken(node: Node, error: KgroupsError) -> Failure:
    return Failure.of(error, Scope.BROKER, str(node), api="ListGroups", broker=node.id)


def _new(listed: Iterable[ListedGroup], yielded: set[GroupId], *, dead: bool = False) -> list[ListedGroup]:
    """Take the groups that were not yielded yet, dead ones only where wanted; note them as yielded."""
    new = [group for group in listed if group.group_id not in yielded and (dead or group.state != GroupState.DEAD)]
    yielded.update(map(_name, new))
    return new


def _matching(listed: Iterable[ListedGroup], wanted: ListFilter) -> list[ListedGroup]:
    """Filters once more: old brokers do not filter, and newer ones may know the words differently."""
    if not (wanted.states or wanted.types or wanted.protocol_types):
        return list(listed)
    return [
        group
        for group in listed
        if (not wanted.states or group.state in wanted.states)
        and (not wanted.types or group.type in wanted.types)
        and (not wanted.protocol_types or group.protocol_type in wanted.protocol_types)
    ]
