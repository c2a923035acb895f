"""What groups are doing and who is in them: the API that fits each group's type, in batches to each coordinator.

A listed group's type decides. A named group's type is not known: every API that could know it is asked, all at once,
and the answer that is not GROUP_ID_NOT_FOUND is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE, Group, GroupId, GroupType, ListedGroup
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import consumer_group_describe, describe_groups

from .ask_coordinators import Answers, Question, ask_coordinators
from .list_groups import ListFilter, fetch_groups

CLASSIC = Question("classic groups", describe_groups.API, describe_groups.DescribeGroups)
CONSUMER = Question("consumer groups", consumer_group_describe.API, consumer_group_describe.ConsumerGroupDescribe)

NOT_FOUND = "GROUP_ID_NOT_FOUND"


async def describe_listed(cluster: Cluster, listed: Iterable[ListedGroup]) -> Outcome[Group]:
    """Describes groups whose coordinator and, from Kafka 3.8, type the list has told. Sorted by name."""
    classic: dict[GroupId, Node | None] = {}
    consumer: dict[GroupId, Node | None] = {}
    others: list[Group] = []
    for group in listed:
        if group.type == GroupType.CONSUMER:
            consumer[group.group_id] = group.coordinator
        elif group.type in (GroupType.CLASSIC, None):
            classic[group.group_id] = group.coordinator
        else:
            others.append(_undescribed(group))
    classics, consumers = await asyncio.gather(
        ask_coordinators(cluster, CLASSIC, classic), ask_coordinators(cluster, CONSUMER, consumer)
    )
    failures = {**classics.failed, **consumers.failed}
    vanished = {name: _vanished(failure) for name, failure in failures.items() if failure.error == NOT_FOUND}
    return _outcome([*_classic(classics), *_consumer(consumers), *others], {**failures, **vanished})


async def describe_named(cluster: Cluster, where: Mapping[GroupId, Node]) -> Outcome[Group]:
    """Describes groups whose coordinator is known, but not their type. One that does not exist is a failure."""
    failures: dict[GroupId, Failure] = {}
    consumer_capable = await _speaking(cluster, where)
    classics, consumers = await asyncio.gather(
        ask_coordinators(cluster, CLASSIC, dict(where)), ask_coordinators(cluster, CONSUMER, consumer_capable)
    )
    found = [*_classic(classics), *_consumer(consumers)]
    known = {group.group_id for group in found}
    for name in where.keys() - known:
        reasons = [answers.failed[name] for answers in (classics, consumers) if name in answers.failed]
        failures[name] = next((reason for reason in reasons if reason.error != NOT_FOUND), reasons[0])
    missing = {name: where[name] for name, failure in failures.items() if failure.error == NOT_FOUND}
    others = await _of_other_types(cluster, missing)
    for group in others.items:
        del failures[group.group_id]
    return _outcome([*found, *others.items], failures).with_failures(others.failures)


async def _speaking(cluster: Cluster, where: Mapping[GroupId, Node]) -> dict[GroupId, Node | None]:
    """Those groups whose coordinator knows KIP-848 groups at all (Kafka 3.7)."""
    capable = set()
    for node in set(where.values()):
        try:
            if await cluster.speaks(node, CONSUMER.api):
                capable.add(node)
        except KgroupsError:
            continue  # the classic question meets the same error, and tells it
    return {name: node for name, node in where.items() if node in capable}


async def _of_other_types(cluster: Cluster, missing: Mapping[GroupId, Node]) -> Outcome[Group]:
    """The groups that exist after all, of a type that neither API describes."""
    if not await _speaking(cluster, missing):
        return Outcome()
    wanted = ListFilter(types=(GroupType.SHARE, GroupType.STREAMS))
    listed = await fetch_groups(cluster, wanted)
    return listed.with_items(_undescribed(group) for group in listed.items if group.group_id in missing)


def _outcome(groups: list[Group], failures: Mapping[GroupId, Failure]) -> Outcome[Group]:
    return Outcome(
        tuple(sorted(groups, key=lambda group: group.group_id)), tuple(failures[name] for name in sorted(failures))
    )


def _classic(answers: Answers[describe_groups.ClassicGroup]) -> Iterable[Group]:
    for name, (node, group) in answers.found.items():
        yield Group(name, GroupType.CLASSIC, group.state, group.protocol_type, group.protocol, node, group.members)


def _consumer(answers: Answers[consumer_group_describe.ConsumerGroup]) -> Iterable[Group]:
    for name, (node, group) in answers.found.items():
        yield Group(
            group_id=name,
            type=GroupType.CONSUMER,
            state=group.state,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocol=group.assignor,
            coordinator=node,
            members=group.members,
            group_epoch=group.group_epoch,
            target_assignment_epoch=group.assignment_epoch,
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
