"""Fetch the state and members of groups with the describe API of their type, in batches to each coordinator.

The type of a listed group is known. For a named group, the APIs of the common types are called at the same time, and
those of the rare types for groups not found so far; the response that is not GROUP_ID_NOT_FOUND counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kgroups.errors import KgroupsError, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType, ListedGroup
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import list_groups
from kgroups.protocol.versions import Api

from ..routing.query_coordinators import query_coordinators
from . import group_types
from .list_groups import ListFilter, fetch_groups

_UNDESCRIBED = tuple(each for each in GroupType.ALL if each not in (*GroupType.COMMON, *GroupType.RARE))
"""The types that this version lists, but does not describe."""

NO_TYPES: Mapping[GroupId, str | None] = MappingProxyType({})

_Found = tuple[list[Group], list[Mapping[GroupId, Failure]]]
"""The groups that were found, and the failures of each API."""


async def describe_listed(cluster: Cluster, listed: Iterable[ListedGroup]) -> Outcome[Group]:
    """Describe listed groups, with their coordinators and, from Kafka 3.8 on, types from the list; sort by name."""
    by_type: dict[str, dict[GroupId, Node | None]] = {}
    others: list[Group] = []
    for group in listed:
        group_type = group.type or GroupType.CLASSIC
        if group_type in GroupType.COMMON or group_type in GroupType.RARE:
            by_type.setdefault(group_type, {})[group.group] = group.coordinator
        else:
            others.append(_undescribed(group))
    unsupported = await _remove_unsupported(cluster, by_type)
    found, failed = await _describe(cluster, by_type)
    failures = {name: failure for each in failed for name, failure in each.items()} | unsupported
    vanished = {name: _vanished(failure) for name, failure in failures.items() if failure.error == NOT_FOUND}
    return _outcome([*found, *others], {**failures, **vanished})


async def describe_named(
    cluster: Cluster, where: Mapping[GroupId, Node], types: Mapping[GroupId, str | None] = NO_TYPES
) -> Outcome[Group]:
    """Describe groups whose coordinator is known. A group that does not exist is a failure.

    :param types: the common types that groups had a moment ago: such a group is described as another type only if it
        is not found.
    """
    by_type: dict[str, dict[GroupId, Node | None]] = {}
    for name, node in where.items():
        if (group_type := types.get(name)) in GroupType.COMMON:
            by_type.setdefault(group_type or "", {})[name] = node
    if not by_type:
        return await _describe_named(cluster, where)
    found, failed = await _describe(cluster, by_type)
    others = {name: failure for each in failed for name, failure in each.items()}
    known = {group.group for group in found}
    failures = {name: failure for name, failure in others.items() if failure.error != NOT_FOUND}
    rest = {name: node for name, node in where.items() if name not in known and name not in failures}
    more = await _describe_named(cluster, rest) if rest else Outcome()
    failures.update({failure.name: failure for failure in more.failures if failure.scope is Scope.GROUP})
    other_failures = (failure for failure in more.failures if failure.scope is not Scope.GROUP)
    return _outcome([*found, *more.items], failures).with_failures(other_failures, more.notices)


async def _describe_named(cluster: Cluster, where: Mapping[GroupId, Node]) -> Outcome[Group]:
    classic: dict[str, Mapping[GroupId, Node | None]] = {GroupType.CLASSIC: dict(where)}
    found, failures = await _describe_any(
        cluster, where, classic | await _describable(cluster, where, GroupType.CONSUMER)
    )
    for group_type in GroupType.RARE:
        if missing := _missing(where, failures):
            more, reasons = await _describe_any(cluster, missing, await _describable(cluster, missing, group_type))
            found += more
            names = {group.group for group in more}
            failures = {name: failure for name, failure in failures.items() if name not in names}
            failures.update({name: failure for name, failure in reasons.items() if failure.error != NOT_FOUND})
    others = await _list_undescribed(cluster, _missing(where, failures))
    for group in others.items:
        del failures[group.group]
    failures.update({failure.name: failure for failure in others.failures if failure.scope is Scope.GROUP})
    rest = (failure for failure in others.failures if failure.scope is not Scope.GROUP)
    return _outcome([*found, *others.items], failures).with_failures(rest)


async def _describe(cluster: Cluster, by_type: Mapping[str, Mapping[GroupId, Node | None]]) -> _Found:
    """Describe the groups of each type at the same time; type -> groups with their coordinators."""
    describers = [group_types.describer_for(group_type) for group_type in by_type]
    results = await asyncio.gather(
        *(
            query_coordinators(cluster, describer.query, where)
            for describer, where in zip(describers, by_type.values(), strict=True)
        )
    )
    found: list[Group] = []
    for describer, each in zip(describers, results, strict=True):
        groups = [describer.group(name, node, described) for name, (node, described) in each.found.items()]
        found += await describer.complete(cluster, groups) if describer.complete and groups else groups
    return found, [each.failed for each in results]


async def _describe_any(
    cluster: Cluster, where: Mapping[GroupId, Node], by_type: Mapping[str, Mapping[GroupId, Node | None]]
) -> tuple[list[Group], dict[GroupId, Failure]]:
    """Describe groups of unknown type as each of some types; return one failure for each group of none of them."""
    found, failed = await _describe(cluster, by_type)
    known = {group.group for group in found}
    failures: dict[GroupId, Failure] = {}
    for name in where.keys() - known:
        reasons = [each[name] for each in failed if name in each]
        if reasons:
            failures[name] = next((reason for reason in reasons if reason.error != NOT_FOUND), reasons[0])
    return found, failures


def _missing(where: Mapping[GroupId, Node], failures: Mapping[GroupId, Failure]) -> dict[GroupId, Node]:
    """Return the groups that no API found, with their coordinators."""
    return {name: where[name] for name, failure in failures.items() if failure.error == NOT_FOUND}


async def _capable(cluster: Cluster, where: Mapping[GroupId, Node], api: Api, version: int = 0) -> dict[GroupId, Node]:
    """Return the groups whose coordinator supports an API."""
    capable = set()
    for node in set(where.values()):
        try:
            if await cluster.speaks(node, api, version):
                capable.add(node)
        except KgroupsError:
            continue  # DescribeGroups meets the same error and reports it
    return {name: node for name, node in where.items() if node in capable}


async def _describable(
    cluster: Cluster, where: Mapping[GroupId, Node], group_type: str
) -> dict[str, Mapping[GroupId, Node | None]]:
    """Return the type, with the groups whose coordinator supports its describe API."""
    return {group_type: dict(await _capable(cluster, where, group_types.describer_for(group_type).query.api))}


async def _remove_unsupported(
    cluster: Cluster, by_type: Mapping[str, dict[GroupId, Node | None]]
) -> dict[GroupId, Failure]:
    """Remove the groups whose coordinator lists them, but supports no known version of the describe API of their type.

    :returns: a failure for each.
    """
    failures: dict[GroupId, Failure] = {}
    for group_type, where in by_type.items():
        for name, node in list(where.items()):
            if node and (failure := await _unsupported(cluster, node, group_type, name)):
                failures[name] = failure
                del where[name]
    return failures


async def _unsupported(cluster: Cluster, node: Node, group_type: str, name: GroupId) -> Failure | None:
    """Return why a broker cannot describe a group of a type: it does not support the API."""
    describer = group_types.describer_for(group_type)
    try:
        (await cluster.versions(node)).pick(describer.query.api)
    except UnsupportedVersion as error:
        reason = f"{error.at(str(node))}; {group_type.lower()} groups can be described from Kafka {describer.since} on"
        return Failure.of(error, Scope.GROUP, name, api=describer.query.api.name, broker=node.id)._replace(
            message=reason
        )
    except KgroupsError:
        pass  # an unavailable broker: the query meets the same error and reports it
    return None


async def _list_undescribed(cluster: Cluster, missing: Mapping[GroupId, Node]) -> Outcome[Group]:
    """Return the groups that exist after all: of types that this version does not describe, or their broker.

    Those that their broker cannot describe are failures.
    """
    modern = await _capable(cluster, missing, list_groups.API, list_groups.TYPES)
    if not modern or not (_UNDESCRIBED or await _lacking(cluster, set(modern.values()))):
        return Outcome()
    listed = await fetch_groups(cluster, ListFilter(with_types=True))
    groups: list[Group] = []
    failures = list(listed.failures)
    for group in listed.items:
        if group.group not in missing:
            continue
        if group.type in _UNDESCRIBED:
            groups.append(_undescribed(group))
        elif failure := await _unsupported(cluster, group.coordinator, group.type or "", group.group):
            failures.append(failure)
    return Outcome(tuple(groups), tuple(failures), listed.notices)


async def _lacking(cluster: Cluster, nodes: Iterable[Node]) -> bool:
    """Return whether a broker lacks the describe API of a type."""
    apis = [group_types.describer_for(group_type).query.api for group_type in (*GroupType.COMMON, *GroupType.RARE)]
    return any([not await cluster.speaks(node, api) for node in nodes for api in apis])


def _outcome(groups: list[Group], failures: Mapping[GroupId, Failure]) -> Outcome[Group]:
    return Outcome(
        tuple(sorted(groups, key=lambda group: group.group)), tuple(failures[name] for name in sorted(failures))
    )


def _undescribed(listed: ListedGroup) -> Group:
    return Group(
        listed.group, listed.type, listed.state or "", listed.protocol_type, "", listed.coordinator, members=None
    )


def _vanished(failure: Failure) -> Failure:
    return Failure(
        Scope.GROUP,
        failure.name,
        "the group vanished while it was being described",
        failure.error,
        failure.code,
        failure.api,
        failure.broker,
        reason=failure.reason,
    )
