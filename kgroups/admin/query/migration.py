"""Gather the facts that decide whether brokers convert groups from the classic to the consumer protocol, and back.

Which settings count are those of the group's coordinator; the other brokers are asked as well, because they may become
the coordinator. Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import KgroupsError, Reason
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.migration import (
    ASSIGNORS,
    CLASSIC_MAX,
    CONSUMER_MAX,
    FEATURE,
    MAX_SESSION,
    MIN_SESSION,
    POLICY,
    PROTOCOLS,
    BrokerFacts,
    MigrationFacts,
)
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import consumer_group_describe, delete_groups, describe_configs
from kgroups.protocol.apis.describe_configs import BROKER, DescribeConfigs, Resource
from kgroups.protocol.error_codes import Code, KafkaError
from kgroups.protocol.versions import BrokerVersions

from ..routing.partition_leaders import read_topics
from .describe_groups import describe_named
from .explain import sorted_members

_SETTINGS = (POLICY, CONSUMER_MAX, CLASSIC_MAX, PROTOCOLS, ASSIGNORS, MIN_SESSION, MAX_SESSION)
_FINAL = 1
"""The version of ConsumerGroupDescribe that Kafka 4.0 introduced, with the consumer protocol."""
_STATIC_NOT_COUNTED = 3
"""The version of DeleteGroups of Kafka 4.4, where a static member that is replaced does not count twice."""


async def migration_facts(
    cluster: Cluster, groups: Outcome[Group], asked: dict[int, BrokerFacts] | None = None
) -> Outcome[MigrationFacts]:
    """Return the facts about described groups. What could not be read is in the facts, and not a failure.

    The groups are described once more, to find those that changed meanwhile.

    :param asked: the settings of brokers by their IDs, which are read once for several calls; the others are added.
    """
    if not groups.items:
        return groups.with_items(())
    brokers = await _brokers(cluster, groups.items, {} if asked is None else asked)
    sizes = await _partitions(cluster, groups.items)
    changes = await _changes(cluster, groups.items)
    found = []
    for group in map(sorted_members, groups.items):
        own = brokers[group.coordinator.id]
        others = (each for each in brokers.values() if each.broker != own.broker and not each.unknown)
        differing = {} if own.unknown else {each.broker: _differences(each, own) for each in others}
        differing = {broker: names for broker, names in sorted(differing.items()) if names}
        names = {entry.topic for member in group.members or () for entry in member.assignment.topics}
        partitions = {name: sizes[name] for name in names if name in sizes}
        found.append(MigrationFacts(group, own, changes.get(group.group), differing, partitions))
    coordinators = {group.coordinator.id for group in groups.items if group.members}
    failures = [_unread(each) for each in brokers.values() if each.unknown and each.broker in coordinators]
    notices = [
        f"broker {each.broker}: its settings, which count if it becomes a coordinator, are unknown: {each.unknown}"
        for each in brokers.values()
        if each.unknown and each.broker not in coordinators
    ]
    return groups.with_items(found).with_failures(failures, notices)


def _differences(one: BrokerFacts, other: BrokerFacts) -> tuple[str, ...]:
    return tuple(name for name, value in one.rules.items() if value != other.rules[name])


def _unread(broker: BrokerFacts) -> Failure:
    text = f"its settings are unknown: {broker.unknown}"
    reason = Reason.NOT_AUTHORIZED if broker.acl else Reason.NOT_APPLICABLE
    return Failure(Scope.BROKER, f"broker {broker.broker}", text, acl=broker.acl, reason=reason)


async def _partitions(cluster: Cluster, groups: Iterable[Group]) -> Mapping[str, int | None]:
    """Return the number of partitions of each existing topic that members of classic groups are assigned."""
    classic = (group for group in groups if group.type in (GroupType.CLASSIC, None))
    names = {entry.topic for group in classic for member in group.members or () for entry in member.assignment.topics}
    if not names:
        return {}
    found, failed = await read_topics(cluster, sorted(names))
    sizes: dict[str, int | None] = dict.fromkeys(failed)
    for name, topic in found.items():
        if topic.error is None:
            sizes[name] = len(topic.leaders)
        elif topic.error.code != Code.unknown_topic_or_partition:
            sizes[name] = None
    return sizes


async def _brokers(
    cluster: Cluster, groups: Iterable[Group], asked: dict[int, BrokerFacts]
) -> Mapping[int, BrokerFacts]:
    """Return the facts about all brokers, by their IDs. Those that are unknown are asked again."""
    nodes = {node.id: node for node in (*cluster.nodes.values(), *(group.coordinator for group in groups))}
    missing = [node for node in nodes.values() if node.id not in asked or asked[node.id].unknown]
    for node, found in await fan_out((node, _broker(cluster, node)) for node in missing):
        asked[node.id] = BrokerFacts(node.id, unknown=str(found)) if isinstance(found, KgroupsError) else found
    return {number: asked[number] for number in nodes}


async def _broker(cluster: Cluster, node: Node) -> BrokerFacts:
    versions = await cluster.versions(node)
    described = versions.ranges.get(consumer_group_describe.API.key)
    deleted = versions.ranges.get(delete_groups.API.key)
    facts = BrokerFacts(
        node.id,
        supported=described is not None and described.newest >= _FINAL,
        group_version=_feature(versions),
        counts_replaced=deleted is None or deleted.newest < _STATIC_NOT_COUNTED,
    )
    resource = Resource(BROKER, str(node.id))
    try:
        settings = (await cluster.call(node, DescribeConfigs({resource: _SETTINGS}))).get(resource)
    except KgroupsError as error:
        return facts._replace(unknown=str(error))
    if isinstance(settings, KafkaError):
        failure = settings.failure(Scope.CLUSTER, "", api=describe_configs.API.name)
        return facts._replace(unknown=failure.message, acl=failure.acl)
    if settings is None:
        return facts._replace(unknown="missing in the response")
    protocols = settings.get(PROTOCOLS)
    return facts._replace(
        protocols=None if protocols is None else frozenset(_words(protocols)),
        policy=(settings.get(POLICY) or "").lower() or None,
        consumer_max=_number(settings.get(CONSUMER_MAX)),
        classic_max=_number(settings.get(CLASSIC_MAX)),
        assignors=tuple(_words(settings.get(ASSIGNORS) or "")),
        sessions=(_number(settings.get(MIN_SESSION)), _number(settings.get(MAX_SESSION))),
    )


def _feature(versions: BrokerVersions) -> int | None:
    return None if versions.features is None else versions.features.get(FEATURE, 0)


def _words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",") if word.strip()]


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


async def _changes(cluster: Cluster, groups: Iterable[Group]) -> Mapping[GroupId, str]:
    """Return how groups differ from what was described before."""
    before = {group.group: group for group in groups}
    described = await describe_named(
        cluster,
        {name: group.coordinator for name, group in before.items()},
        {name: group.type for name, group in before.items()},
    )
    changes = {group.group: text for group in described.items if (text := _change(before[group.group], group))}
    for failure in described.failures:
        if failure.name in before:
            changes[failure.name] = "it was deleted" if failure.error == NOT_FOUND else failure.message
    return changes


def _change(before: Group, after: Group) -> str | None:
    if before.type != after.type:
        return f"it became a {(after.type or '').lower()} group"
    if before.coordinator.id != after.coordinator.id:
        return f"its coordinator is now broker {after.coordinator.id}"
    if before.state != after.state:
        return f"its state became {after.state}"
    if _members(before) != _members(after):
        return "members joined or left"
    return None


def _members(group: Group) -> set[tuple[str, bool | None]]:
    return {(member.member_id, member.upgraded) for member in group.members or ()}
