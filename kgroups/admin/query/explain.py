"""Gather the facts about groups that :mod:`kgroups.model.explain` judges.

These are the groups, their partitions of the offsets topic, their topics, and the limits of their brokers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

from kgroups.model.assignors.shape import Topic, TopicPartition
from kgroups.model.cluster import Node
from kgroups.model.explain.facts import BrokerLimits, GroupFacts, Limit, MemberTimeouts, Placement
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.lag import is_epoch_ahead
from kgroups.model.offsets import GroupCommits, Logs
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import Acl
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import describe_configs, find_coordinator, list_groups
from kgroups.protocol.apis.describe_configs import Resource
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError

from ..routing.partition_leaders import by_topic, read_topics
from .describe import describe_located
from .group_configs import fetch_effective
from .group_offsets import fetch_commits, note_missing_offsets
from .log_offsets import fetch_logs
from .select_groups import ResolvedSelection, Selection, note_missing_groups
from .stream import Stages, collect, stream_batches

_BROKER_CONFIGS = tuple(
    limit.name for limit in (BrokerLimits().members, BrokerLimits().consumers, BrokerLimits().request)
)
_TIMEOUTS = ("session.timeout.ms", "heartbeat.interval.ms")
"""The settings of groups with these names begin with the type of the group."""
_MODERN = (GroupType.CONSUMER, GroupType.SHARE, GroupType.STREAMS)
_TOPIC_CONFIGS = (BrokerLimits().record.name,)


_Described = tuple[Group, str]
"""A group, and the API that found its coordinator."""


Described = Awaitable[Outcome[GroupOffsets]]
"""The groups with the commits and logs of all their topics, as soon as they are there."""


async def gather_facts(
    cluster: Cluster, selection: Selection, described: Described | None = None
) -> Outcome[GroupFacts]:
    """Return the facts about the selected groups, sorted by name.

    Limits that cannot be read have their defaults. If the offsets topic cannot be seen, that is a notice, no failure.

    :param described: their offsets, so that these are not requested once more; not if topics are selected.
    """

    async def query(resolved: ResolvedSelection) -> Outcome[_Described]:
        groups = await describe_located(cluster, resolved, topics=selection.topics)
        apis = await _lookup_apis(cluster, resolved)
        return groups.with_items((group, apis.get(group.group, "ListGroups")) for group in groups.items)

    async def finish(groups: Sequence[_Described]) -> tuple[Sequence[GroupFacts], Sequence[Failure]]:
        return await _facts(cluster, groups, described)

    stages = Stages(query, finish, lambda described: described[0].group)
    outcome = await collect(stream_batches(cluster, selection, stages))
    denied = [failure for failure in outcome.failures if failure.name == OFFSETS_TOPIC and failure.acl]
    if denied:
        others = tuple(failure for failure in outcome.failures if failure not in denied)
        outcome = _without_placement(outcome._replace(failures=others), denied[0].acl)
    outcome = await note_missing_groups(cluster, selection, outcome)
    return await note_missing_offsets(cluster, selection, outcome)


async def member_facts(cluster: Cluster, groups: Iterable[Group]) -> tuple[list[GroupFacts], list[Failure]]:
    """Return only the facts from which assignments can be simulated: members, and the partitions of their topics."""
    groups = list(map(sorted_members, groups))
    topics, failures = await _topics(cluster, groups)
    return [_with_topics(topics, GroupFacts(group, Placement(""), {})) for group in groups], failures


async def _facts(
    cluster: Cluster, located: Sequence[_Described], described: Described | None
) -> tuple[Sequence[GroupFacts], Sequence[Failure]]:
    groups = [group for group, _ in located]
    (topics, failures), limits, (commits, epochs_ahead), timeouts = await asyncio.gather(
        _topics(cluster, groups),
        _limits(cluster, groups),
        _commits(cluster, groups, described),
        _timeouts(cluster, groups),
    )
    facts = [
        _with_topics(
            topics,
            GroupFacts(
                group=sorted_members(group),
                placement=_placement(group.group, api, topics.get(OFFSETS_TOPIC)),
                topics={},
                limits=limits.get(group.coordinator, BrokerLimits()),
                epochs_ahead=epochs_ahead.get(group.group, ()),
                timeouts=timeouts.get(group.group),
                commits=commits.get(group.group),
            ),
        )
        for group, api in located
    ]
    return facts, failures


async def _commits(
    cluster: Cluster, groups: Iterable[Group], described: Described | None
) -> tuple[Mapping[GroupId, GroupCommits], Mapping[GroupId, tuple[TopicPartition, ...]]]:
    """Return the commits, and the partitions with one from before their topic was deleted and created again.

    A leader epoch of 0 shows nothing, so only logs of commits with a later one are queried. Errors are ignored.
    """
    if described is not None:
        every = [each for each in (await described).items if each.group.type not in GroupType.WITHOUT_COMMITS]
        commits = {each.group.group: each.commits for each in every}
        return commits, {each.group.group: _epochs_ahead(_epochs(each.commits), each.logs) for each in every}
    where = {group.group: group.coordinator for group in groups if group.type not in GroupType.WITHOUT_COMMITS}
    found = (await fetch_commits(cluster, where)).found if where else {}
    epochs = {name: _epochs(made) for name, (_, made) in found.items()}
    partitions = by_topic(sorted({pair for some in epochs.values() for pair in some}))
    logs, _ = await fetch_logs(cluster, partitions) if partitions else (Logs(), ())
    epochs_ahead = {name: _epochs_ahead(some, logs) for name, some in epochs.items()}
    return {name: commits for name, (_, commits) in found.items()}, epochs_ahead


def _epochs(made: GroupCommits) -> dict[TopicPartition, int]:
    """Return the leader epochs of commits, other than 0."""
    return {
        (topic, commit.partition): commit.leader_epoch
        for topic, commits in made.topics.items()
        for commit in commits
        if commit.leader_epoch
    }


def _epochs_ahead(epochs: Mapping[TopicPartition, int], logs: Logs) -> tuple[TopicPartition, ...]:
    return tuple(
        (topic, at)
        for (topic, at), epoch in epochs.items()
        if is_epoch_ahead(epoch, logs.epochs.get(topic, {}).get(at))
    )


async def _timeouts(cluster: Cluster, groups: Iterable[Group]) -> Mapping[GroupId, MemberTimeouts]:
    """Return the settings with the timeouts of the members of groups that are not classic."""
    modern = [group for group in groups if group.members and group.type in _MODERN]
    names = {group.group: [f"{(group.type or '').lower()}.{name}" for name in _TIMEOUTS] for group in modern}
    found = await fetch_effective(cluster, modern, set(chain.from_iterable(names.values())))
    return {group: MemberTimeouts(*(found[group][name] for name in some)) for group, some in names.items()}


def _without_placement(outcome: Outcome[GroupFacts], missing: Acl | None) -> Outcome[GroupFacts]:
    notice = f"the partition of {OFFSETS_TOPIC} for each group is unknown; this requires {missing}"
    return outcome.with_failures((), (notice,))._replace(hidden_by=(*outcome.hidden_by, *filter(None, (missing,))))


def sorted_members(group: Group) -> Group:
    """Sort the members by their IDs, as ``describe`` does: brokers return them in the order of a hash."""
    return group._replace(members=group.members and tuple(sorted(group.members, key=attrgetter("member_id"))))


def _topic_names(group: Group) -> set[str]:
    """Return the topics of the members' subscriptions, assignments, and target assignments."""
    names: set[str] = set()
    for member in group.members or ():
        names.update(member.subscription.topics)
        for assignment in (member.assignment, member.target):
            names.update(entry.topic for entry in (assignment.topics if assignment else ()))
    return names


def _with_topics(topics: Mapping[str, TopicLeaders], facts: GroupFacts) -> GroupFacts:
    """Add the group's topics to its facts: those that exist, those that do not, and those that are unknown."""
    existing: dict[str, Topic] = {}
    missing, unknown = set(), set()
    for name in _topic_names(facts.group):
        entry = topics.get(name)
        if entry is not None and entry.error is None:
            existing[name] = Topic(len(entry.leaders), entry.topic_id)
        elif entry is not None and entry.error and entry.error.code == Code.unknown_topic_or_partition:
            missing.add(name)
        else:
            unknown.add(name)
    return facts._replace(topics=existing, missing=frozenset(missing), undescribed=frozenset(unknown))


async def _topics(cluster: Cluster, groups: Iterable[Group]) -> tuple[dict[str, TopicLeaders], list[Failure]]:
    """Return the metadata of the groups' topics and of the offsets topic."""
    found, failed = await read_topics(cluster, sorted({OFFSETS_TOPIC}.union(*map(_topic_names, groups))))
    failures = [Failure.of(error, Scope.TOPIC, name, api="Metadata") for name, error in failed.items()]
    for entry in found.values():
        if entry.error and entry.error.code != Code.unknown_topic_or_partition:
            failures.append(entry.error.failure(Scope.TOPIC, entry.topic, api="Metadata"))
    return found, failures


def _placement(group: GroupId, api: str, offsets_topic: TopicLeaders | None) -> Placement:
    count = len(offsets_topic.leaders) if offsets_topic else 0
    if not offsets_topic or not count:
        return Placement(api)
    partition = partition_of(group, count)
    leader = offsets_topic.leaders.get(partition)
    return Placement(api, partition, count, leader if isinstance(leader, int) else None)


async def _lookup_apis(cluster: Cluster, resolved: ResolvedSelection) -> dict[GroupId, str]:
    """Return the API, with its version, that found the coordinator of each group."""
    find, listing = find_coordinator.API, list_groups.API
    apis: dict[GroupId, str] = {}
    if resolved.named:
        versions = await cluster.versions(cluster.nodes_by_health()[0])
        apis.update(dict.fromkeys(resolved.named, f"{find} v{versions.pick(find)}"))
    for group in resolved.listed:
        apis[group.group] = f"{listing} v{(await cluster.versions(group.coordinator)).pick(listing)}"
    return apis


async def _limits(cluster: Cluster, groups: Iterable[Group]) -> dict[Node, BrokerLimits]:
    """Return the limits of each coordinator that reports its configuration."""
    nodes = sorted({group.coordinator for group in groups})
    results = await fan_out((node, _limits_of(cluster, node)) for node in nodes)
    return {node: limits for node, limits in results if isinstance(limits, BrokerLimits)}


async def _limits_of(cluster: Cluster, node: Node) -> BrokerLimits:
    broker, topic = Resource(describe_configs.BROKER, str(node.id)), Resource(describe_configs.TOPIC, OFFSETS_TOPIC)
    configs = await cluster.call(
        node, describe_configs.DescribeConfigs({broker: _BROKER_CONFIGS, topic: _TOPIC_CONFIGS})
    )
    default = BrokerLimits()
    return BrokerLimits(
        members=_limit(configs.get(broker), default.members),
        consumers=_limit(configs.get(broker), default.consumers),
        request=_limit(configs.get(broker), default.request),
        record=_limit(configs.get(topic), default.record),
    )


def _limit(configs: Mapping[str, str | None] | KafkaError | None, default: Limit) -> Limit:
    if configs is None or isinstance(configs, KafkaError):
        return default
    value = configs.get(default.name) or ""
    return Limit(default.name, int(value), True) if value.isdecimal() else default
