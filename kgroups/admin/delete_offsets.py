"""Takes commits of a group away, which it may do for topics that no member is subscribed to (KIP-496, Kafka 2.4)."""

from __future__ import annotations

from kgroups.errors import UsageError
from kgroups.model.groups import Group
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.reset import PlannedOffset
from kgroups.model.topic_scope import TopicScope, in_scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code, kafka_error

from .reset_offsets import WireLookups
from .select_groups import Selection


async def plan_delete_offsets(cluster: Cluster, selection: Selection, topics: TopicScope) -> Outcome[PlannedOffset]:
    """The commits that would go, each with an ``after`` of ``None``, sorted; ``apply_offsets`` takes them away.

    A topic that a member is subscribed to is a failure (GROUP_SUBSCRIBED_TO_TOPIC).

    :raises UsageError: when ``topics`` names a topic that neither exists nor has a commit.
    """
    groups, committed = await WireLookups(cluster).groups(selection)
    doomed = [
        PlannedOffset(group, topic, partition, commit, None)
        for group in sorted(committed)
        for (topic, partition), commit in sorted(committed[group].items())
        if in_scope(topics, topic, partition)
    ]
    unseen = sorted(set(topics) - {entry.topic for entry in doomed})
    if unseen:
        await _check_exist(cluster, unseen)
    held = {(group.group_id, topic) for group in groups.items for topic in _subscribed(group)}
    refused = sorted({(entry.group_id, entry.topic) for entry in doomed} & held)
    notices = tuple(f"nobody has a commit there: topic '{topic}'" for topic in unseen)
    kept = (entry for entry in doomed if (entry.group_id, entry.topic) not in held)
    failures = [_refusal(group, topic) for group, topic in refused]
    return groups.with_items(kept).with_failures(failures, notices)


async def _check_exist(cluster: Cluster, topics: list[str]) -> None:
    for entry in (await cluster.refresh(topics)).topics:
        if entry.error and entry.error.code == Code.unknown_topic_or_partition:
            raise UsageError(f"--topic: there is no topic '{entry.topic}', nor a commit on it")


def _subscribed(group: Group) -> set[str]:
    """What its members read, or mean to."""
    members = group.members or ()
    asked = {topic for member in members for topic in member.subscription.topics}
    return asked | {entry.topic for member in members for entry in member.assignment.topics}


def _refusal(group: str, topic: str) -> Failure:
    error = kafka_error(Code.group_subscribed_to_topic, f"group '{group}': a member is subscribed to the topic")
    return error.failure(Scope.TOPIC, topic, api="DescribeGroups")
