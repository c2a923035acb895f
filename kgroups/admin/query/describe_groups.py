"""What groups are doing and who is in them: the API that fits each group's type, in batches to each coordinator.

A listed group's type decides. A named group's type is not known: the APIs of the common kinds are asked all at once,
and for what they do not find those of the rare ones; the answer that is not GROUP_ID_NOT_FOUND is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType, ListedGroup
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.net.cluster import Cluster

from ..routing.query_coordinators import query_coordinators
from . import group_types
from .list_groups import ListFilter, fetch_groups

_UNDESCRIBED = tuple(kind for kind in GroupType.ALL if kind not in (*GroupType.COMMON, *GroupType.RARE))
"""The types of which only what the list reports is known."""

_Found = tuple[list[Group], list[Mapping[GroupId, Failure]]]
"""The groups that were found, and each API's failures."""


async def describe_listed(cluster: Cluster, listed: Iterable[ListedGroup]) -> Outcome[Group]:
    """Describes groups whose coordinator and, from Kafka 3.8, type the list has told. Sorted by name."""
    wanted: dict[str, dict[GroupId, Node | None]] = {}
    others: list[Group] = []
    for group in listed:
        kind = group.type or GroupType.CLASSIC
        if kind in GroupType.COMMON or kind in GroupType.RARE:
            wanted.setdefault(kind, {})[group.group_id] = group.coordinator
        else:
            others.append(_undescribed(group))
    too_old = await _too_old(cluster, wanted)
    found, failed = await _ask(cluster, wanted)
    failures = {name: failure for each in failed for name, failure in each.items()} | too_old
    vanished = {name: _vanished(failure) for name, failure in failures.items() if failure.error == NOT_FOUND}
    return _outcome([*found, *others], {**failures, **vanished})


async def describe_named(cluster: Cluster, where: Mapping[GroupId, Node]) -> Outcome[Group]:
    """Describes groups whose coordinator is known, but not their type. One that does not exist is a failure."""
    classic: dict[str, Mapping[GroupId, Node | None]] = {GroupType.CLASSIC: dict(where)}
    found, failures = await _ask_all(cluster, where, classic | await _speaking(cluster, where, GroupType.CONSUMER))
    for kind in GroupType.RARE:
        if missing := _missing(where, failures):
            more, reasons = await _ask_all(cluster, missing, await _speaking(cluster, missing, kind))
            found += more
            failures = {name: why for name, why in failures.items() if name not in {group.group_id for group in more}}
            failures.update({name: why for name, why in reasons.items() if why.error != NOT_FOUND})
    others = await _undescribed_kinds(cluster, _missing(where, failures))
    for group in others.items:
        del failures[group.group_id]
    return _outcome([*found, *others.items], failures).with_failures(others.failures)


async def _ask(cluster: Cluster, wanted: Mapping[str, Mapping[GroupId, Node | None]]) -> _Found:
    """Puts each kind's query about its groups, all at once."""
    describers = [group_types.describer_for(kind) for kind in wanted]
    answers = await asyncio.gather(
        *(
            query_coordinators(cluster, describer.query, where)
            for describer, where in zip(describers, wanted.values(), strict=True)
        )
    )
    found: list[Group] = []
    for describer, answer in zip(describers, answers, strict=True):
        groups = [describer.group(name, node, told) for name, (node, told) in answer.found.items()]
        found += await describer.complete(cluster, groups) if describer.complete and groups else groups
    return found, [answer.failed for answer in answers]


async def _ask_all(
    cluster: Cluster, where: Mapping[GroupId, Node], wanted: Mapping[str, Mapping[GroupId, Node | None]]
) -> tuple[list[Group], dict[GroupId, Failure]]:
    """The same of groups each of which is of one of these kinds at most; one failure for each that is of none."""
    found, failed = await _ask(cluster, wanted)
    known = {group.group_id for group in found}
    failures: dict[GroupId, Failure] = {}
    for name in where.keys() - known:
        reasons = [each[name] for each in failed if name in each]
        if reasons:
            failures[name] = next((reason for reason in reasons if reason.error != NOT_FOUND), reasons[0])
    return found, failures


def _missing(where: Mapping[GroupId, Node], failures: Mapping[GroupId, Failure]) -> dict[GroupId, Node]:
    """The groups that no API knew."""
    return {name: where[name] for name, failure in failures.items() if failure.error == NOT_FOUND}


async def _speaking(
    cluster: Cluster, where: Mapping[GroupId, Node], kind: str
) -> dict[str, Mapping[GroupId, Node | None]]:
    """The kind, with those groups whose coordinator knows groups of that kind at all."""
    query = group_types.describer_for(kind).query
    capable = set()
    for node in set(where.values()):
        try:
            if await cluster.speaks(node, query.api):
                capable.add(node)
        except KgroupsError:
            continue  # the classic query meets the same error, and tells it
    return {kind: {name: node for name, node in where.items() if node in capable}}


async def _too_old(cluster: Cluster, wanted: Mapping[str, dict[GroupId, Node | None]]) -> dict[GroupId, Failure]:
    """Takes the groups out whose coordinator lists them, but does not describe their kind as we know it; says so."""
    failures: dict[GroupId, Failure] = {}
    for kind in GroupType.RARE:
        where = {name: node for name, node in wanted.get(kind, {}).items() if node}
        if not where:
            continue
        describer = group_types.describer_for(kind)
        query, since = describer.query, describer.since
        for name, node in where.items():
            with suppress(KgroupsError):  # a broker that is gone: the query meets the same error, and tells it
                if not await cluster.speaks(node, query.api):
                    message = f"{kind.lower()} groups can be described from Kafka {since} on"
                    failures[name] = Failure(Scope.GROUP, name, message, api=query.api.name, broker=node.id)
                    del wanted[kind][name]
    return failures


async def _undescribed_kinds(cluster: Cluster, missing: Mapping[GroupId, Node]) -> Outcome[Group]:
    """The groups that exist after all, of a kind that we cannot describe."""
    if not _UNDESCRIBED or not any((await _speaking(cluster, missing, GroupType.CONSUMER)).values()):
        return Outcome()
    listed = await fetch_groups(cluster, ListFilter(types=_UNDESCRIBED))
    return listed.with_items(_undescribed(group) for group in listed.items if group.group_id in missing)


def _outcome(groups: list[Group], failures: Mapping[GroupId, Failure]) -> Outcome[Group]:
    return Outcome(
        tuple(sorted(groups, key=lambda group: group.group_id)), tuple(failures[name] for name in sorted(failures))
    )


def _undescribed(listed: ListedGroup) -> Group:
    return Group(
        listed.group_id, listed.type, listed.state or "", listed.protocol_type, "", listed.coordinator, members=None
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
    )
