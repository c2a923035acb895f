"""All that there is to know of some groups, for :mod:`kgroups.model.explain` to judge: the groups themselves, where
they are kept, the topics that they read, and the limits of their brokers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from kgroups.model.assignors.shape import Topic, TopicPartition
from kgroups.model.cluster import Node
from kgroups.model.explain.facts import BrokerLimits, GroupFacts, Limit, Placement
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.lag import is_recreated
from kgroups.model.offsets import Logs
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import Acl
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import describe_configs, find_coordinator, list_groups
from kgroups.protocol.apis.describe_configs import Resource
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError

from ..routing.partition_leaders import by_topic, read_topics
from .describe import describe_located
from .group_offsets import fetch_commits
from .log_offsets import fetch_logs
from .select_groups import ResolvedSelection, Selection
from .stream import Stages, collect, stream_answers

_OF_BROKER = tuple(limit.name for limit in (BrokerLimits().members, BrokerLimits().consumers, BrokerLimits().request))
_OF_TOPIC = (BrokerLimits().record.name,)


_Described = tuple[Group, str]
"""A group, and how its coordinator was found."""


async def gather_facts(cluster: Cluster, selection: Selection) -> Outcome[GroupFacts]:
    """The selected groups with what is known of them, sorted by name. What is asked about is the groups: limits that
    may not be read are the defaults, and that the topic where groups are kept may not be seen is a notice."""

    async def ask(resolved: ResolvedSelection) -> Outcome[_Described]:
        groups = await describe_located(cluster, resolved, topics=selection.topics)
        how = await _how(cluster, resolved)
        return groups.with_items((group, how.get(group.group_id, "ListGroups")) for group in groups.items)

    async def finish(described: Sequence[_Described]) -> tuple[Sequence[GroupFacts], Sequence[Failure]]:
        return await _facts(cluster, described)

    stages = Stages(ask, finish, lambda described: described[0].group_id)
    answer = await collect(stream_answers(cluster, selection, stages))
    shut = [failure for failure in answer.failures if failure.name == OFFSETS_TOPIC and failure.acl]
    if not shut:
        return answer
    others = tuple(failure for failure in answer.failures if failure not in shut)
    return _without_placement(answer._replace(failures=others), shut[0].acl)


async def _facts(cluster: Cluster, described: Sequence[_Described]) -> tuple[Sequence[GroupFacts], Sequence[Failure]]:
    groups = [group for group, _ in described]
    (topics, failures), limits, recreated = await asyncio.gather(
        _topics(cluster, groups), _limits(cluster, groups), _recreated(cluster, groups)
    )
    facts = [
        _with_topics(
            topics,
            GroupFacts(
                group=_in_order(group),
                placement=_placement(group.group_id, how, topics.get(OFFSETS_TOPIC)),
                topics={},
                limits=limits.get(group.coordinator, BrokerLimits()),
                recreated=recreated.get(group.group_id, ()),
            ),
        )
        for group, how in described
    ]
    return facts, failures


async def _recreated(cluster: Cluster, groups: Iterable[Group]) -> Mapping[GroupId, tuple[TopicPartition, ...]]:
    """The commits from before their topic was deleted and created again. A leader epoch of 0 cannot tell: only logs of
    commits at later ones are asked about. Who does not answer makes nothing known, and no failure."""
    kinds = (GroupType.CLASSIC, GroupType.CONSUMER, None)
    where = {group.group_id: group.coordinator for group in groups if group.type in kinds}
    found = (await fetch_commits(cluster, where)).found if where else {}
    epochs = {
        name: {
            (topic, commit.partition): commit.leader_epoch
            for topic, commits in answer[1].topics.items()
            for commit in commits
            if commit.leader_epoch
        }
        for name, answer in found.items()
    }
    wanted = by_topic(sorted({pair for some in epochs.values() for pair in some}))
    logs, _ = await fetch_logs(cluster, wanted) if wanted else (Logs(), ())
    return {
        name: tuple(
            (topic, at)
            for (topic, at), epoch in some.items()
            if is_recreated(epoch, logs.epochs.get(topic, {}).get(at))
        )
        for name, some in epochs.items()
    }


def _without_placement(answer: Outcome[GroupFacts], missing: Acl | None) -> Outcome[GroupFacts]:
    said = f"in which partition of {OFFSETS_TOPIC} a group is kept is not known: it needs {missing}"
    return answer.with_failures((), (said,))._replace(hidden_by=(*answer.hidden_by, *filter(None, (missing,))))


def _in_order(group: Group) -> Group:
    """Its members by their ids, as describe has them: brokers tell them in the order of a hash."""
    return group._replace(members=group.members and tuple(sorted(group.members, key=attrgetter("member_id"))))


def _names(group: Group) -> set[str]:
    """The topics that members ask for, hold, or are meant to hold."""
    names: set[str] = set()
    for member in group.members or ():
        names.update(member.subscription.topics)
        for held in (member.assignment, member.target):
            names.update(entry.topic for entry in (held.topics if held else ()))
    return names


def _with_topics(topics: Mapping[str, TopicLeaders], facts: GroupFacts) -> GroupFacts:
    """Which of its topics exist and how many partitions they have, which do not, and of which nothing is known."""
    existing: dict[str, Topic] = {}
    missing, untold = set(), set()
    for name in _names(facts.group):
        told = topics.get(name)
        if told is not None and told.error is None:
            existing[name] = Topic(len(told.leaders), told.topic_id)
        elif told is not None and told.error and told.error.code == Code.unknown_topic_or_partition:
            missing.add(name)
        else:
            untold.add(name)
    return facts._replace(topics=existing, missing=frozenset(missing), untold=frozenset(untold))


async def _topics(cluster: Cluster, groups: Iterable[Group]) -> tuple[dict[str, TopicLeaders], list[Failure]]:
    """Metadata of all that the groups read, and of the topic that keeps them."""
    told, failed = await read_topics(cluster, sorted({OFFSETS_TOPIC}.union(*map(_names, groups))))
    failures = [Failure.of(error, Scope.TOPIC, name, api="Metadata") for name, error in failed.items()]
    for entry in told.values():
        if entry.error and entry.error.code != Code.unknown_topic_or_partition:
            failures.append(entry.error.failure(Scope.TOPIC, entry.topic, api="Metadata"))
    return told, failures


def _placement(group: GroupId, how: str, kept_in: TopicLeaders | None) -> Placement:
    count = len(kept_in.leaders) if kept_in else 0
    if not kept_in or not count:
        return Placement(how)
    partition = partition_of(group, count)
    leader = kept_in.leaders.get(partition)
    return Placement(how, partition, count, leader if isinstance(leader, int) else None)


async def _how(cluster: Cluster, resolved: ResolvedSelection) -> dict[GroupId, str]:
    """By which API each group's coordinator was found, and in which version."""
    asked, listing = find_coordinator.API, list_groups.API
    found: dict[GroupId, str] = {}
    if resolved.named:
        versions = await cluster.versions(cluster.nodes_by_health()[0])
        found.update(dict.fromkeys(resolved.named, f"{asked} v{versions.pick(asked)}"))
    for group in resolved.listed:
        found[group.group_id] = f"{listing} v{(await cluster.versions(group.coordinator)).pick(listing)}"
    return found


async def _limits(cluster: Cluster, groups: Iterable[Group]) -> dict[Node, BrokerLimits]:
    """What each coordinator is set to; of those that do not tell, nothing."""
    nodes = sorted({group.coordinator for group in groups})
    answers = await fan_out((node, _limits_of(cluster, node)) for node in nodes)
    return {node: answer for node, answer in answers if isinstance(answer, BrokerLimits)}


async def _limits_of(cluster: Cluster, node: Node) -> BrokerLimits:
    broker, topic = Resource(describe_configs.BROKER, str(node.id)), Resource(describe_configs.TOPIC, OFFSETS_TOPIC)
    told = await cluster.call(node, describe_configs.DescribeConfigs({broker: _OF_BROKER, topic: _OF_TOPIC}))
    default = BrokerLimits()
    return BrokerLimits(
        members=_limit(told.get(broker), default.members),
        consumers=_limit(told.get(broker), default.consumers),
        request=_limit(told.get(broker), default.request),
        record=_limit(told.get(topic), default.record),
    )


def _limit(told: Mapping[str, str | None] | KafkaError | None, default: Limit) -> Limit:
    if told is None or isinstance(told, KafkaError):
        return default
    value = told.get(default.name) or ""
    return Limit(default.name, int(value), True) if value.isdecimal() else default
