"""Plan the deletion of committed offsets, on topics that no member is subscribed to (KIP-496, Kafka 2.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kgroups.errors import Reason, UsageError
from kgroups.model.counts import some
from kgroups.model.groups import Group, GroupId, GroupState, GroupType
from kgroups.model.lag import compute_lag
from kgroups.model.offsets import LogOffsets
from kgroups.model.operations.reset import PlannedOffset, SeenLog
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.topic_scope import TopicScope, in_scope
from kgroups.model.views.lag_summary import left_of
from kgroups.model.views.offset_row import OffsetRow
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, kafka_error

from ...query.log_offsets import fetch_logs
from ...query.select_groups import Selection
from ...routing.partition_leaders import by_topic, topic_leaders
from .lookups import Committed, groups_with_offsets, has_members
from .needs_kafka import acls_of_offsets, offsets_that_can_be_deleted
from .plan_notices import with_notices


async def plan_delete_offsets(cluster: Cluster, selection: Selection, topics: TopicScope) -> Outcome[PlannedOffset]:
    """Return the committed offsets to delete, sorted, each with an ``after`` of ``None``.

    Failures: a topic that a member is subscribed to (GROUP_SUBSCRIBED_TO_TOPIC), and a topic without a committed offset
    whose partitions are unknown.

    :raises UsageError: if ``topics`` names a topic or partition that neither exists nor has a committed offset.
    """
    planned = await offsets_that_can_be_deleted(cluster, await _plan(cluster, selection, topics))
    planned = planned.with_failures((), await _unread(cluster, planned.items))
    return await with_notices(cluster, selection, planned, acls_of_offsets(planned.items))


async def _plan(cluster: Cluster, selection: Selection, topics: TopicScope) -> Outcome[PlannedOffset]:
    groups, committed, pending = await groups_with_offsets(cluster, selection)
    kinds = {group.group: group.type for group in groups.items}
    busy, partial = _share_group_failures(groups.items, committed, topics)
    planned = [
        PlannedOffset(group, topic, partition, commit, None, kind=kinds.get(group))
        for group in sorted(committed)
        for (topic, partition), commit in sorted(committed[group].items())
        if in_scope(topics, topic, partition)
    ]
    unseen = _without_commits(topics, planned)
    found = await topic_leaders(cluster, sorted({*unseen, *(entry.topic for entry in planned)}))
    unknown = _check_exist(unseen, found)
    planned = [
        entry._replace(
            seen=SeenLog(found[entry.topic].topic_id or None if entry.topic in found else None),
            pending=(entry.topic, entry.partition) in pending.get(entry.group, ()),
        )
        for entry in planned
    ]
    held = {(group.group, topic) for group in groups.items for topic in _subscribed(group)}
    refused = sorted({(entry.group, entry.topic) for entry in planned if entry.group not in busy} & held)
    idle = sorted(set(topics) - {entry.topic for entry in planned} - {failure.name for failure in unknown})
    # If no group was found, failures report that.
    notices = tuple(f"none of these groups has a committed offset on topic '{topic}'" for topic in idle if groups.items)
    spared = held | partial.keys()
    kept = (entry for entry in planned if entry.group not in busy and (entry.group, entry.topic) not in spared)
    failures = [*unknown, *busy.values(), *partial.values(), *(_refusal(group, topic) for group, topic in refused)]
    return groups.with_items(kept).with_failures(failures, notices)


async def _unread(cluster: Cluster, planned: Sequence[PlannedOffset]) -> list[str]:
    """Return how many records of each group are unread, which the offsets to delete still show."""
    logs, failures = await fetch_logs(cluster, by_topic(sorted({(entry.topic, entry.partition) for entry in planned})))
    rows: dict[GroupId, list[OffsetRow]] = {}
    for entry in planned:
        log = logs.offsets.get(entry.topic, {}).get(entry.partition, LogOffsets())
        lag = compute_lag(None if entry.old is None else max(entry.old, log.start or 0), log.end)
        rows.setdefault(entry.group, []).append(
            OffsetRow(entry.group, entry.topic, entry.partition, current_offset=entry.old, lag=lag)
        )
    notices = [
        f"unknown how many records are unread: {each.message}"
        for each in failures
        if each.reason is not Reason.TOPIC_NOT_FOUND
    ]
    topics = frozenset(entry.topic for entry in planned)
    for group, of_group in rows.items():
        left = left_of(of_group, topics, logs)
        if text := left.text(f"on {some(left.topics)}, after the offsets to delete"):
            notices.append(f"group {group!r}: {text}")
    return notices


def _share_group_failures(
    groups: Iterable[Group], committed: Committed, topics: TopicScope
) -> tuple[dict[GroupId, Failure], dict[tuple[GroupId, str], Failure]]:
    """Return the failures of share groups with members, and of topics that are not selected as a whole.

    DeleteShareGroupOffsets deletes the offsets of whole topics only (KIP-932).
    """
    busy: dict[GroupId, Failure] = {}
    partial: dict[tuple[GroupId, str], Failure] = {}
    for group in groups:
        if group.type not in GroupType.WITHOUT_COMMITS:
            continue
        name = group.group
        if group.state not in GroupState.WITHOUT_MEMBERS:
            busy[name] = has_members(group)
            continue
        for topic, partition in committed.get(name, {}):
            if topic in topics and not in_scope(topics, topic, partition):
                message = (
                    f"group '{name}': share groups can only delete the offsets of whole topics: omit the partitions"
                )
                partial[name, topic] = Failure(Scope.TOPIC, topic, message, reason=Reason.NOT_APPLICABLE)
    return busy, partial


def _without_commits(topics: TopicScope, planned: Iterable[PlannedOffset]) -> dict[str, frozenset[int]]:
    """Return the named topics and partitions without committed offsets; without partitions: the whole topic."""
    seen: dict[str, set[int]] = {}
    for entry in planned:
        seen.setdefault(entry.topic, set()).add(entry.partition)
    return {
        topic: missing
        for topic, partitions in topics.items()
        if (missing := (partitions or frozenset()) - seen.get(topic, set())) or topic not in seen
    }


def _check_exist(unseen: Mapping[str, frozenset[int]], found: Mapping[str, TopicLeaders]) -> list[Failure]:
    """Return a failure for each topic that may or may not exist.

    :raises UsageError: for the first topic or partition that does not exist.
    """
    failures: list[Failure] = []
    for topic, partitions in sorted(unseen.items()):
        entry = found.get(topic)
        if entry is None:
            failures.append(
                Failure(
                    Scope.TOPIC,
                    topic,
                    "missing in the broker's response",
                    api="Metadata",
                    reason=Reason.INVALID_RESPONSE,
                )
            )
        elif entry.error and entry.error.code == Code.unknown_topic_or_partition:
            place = f"its partition {min(partitions)}" if partitions else "it"
            raise UsageError(f"--topic: topic '{topic}' does not exist, and there is no committed offset for {place}")
        elif entry.error:
            failures.append(entry.error.failure(Scope.TOPIC, topic, api="Metadata"))
        elif strange := partitions - entry.leaders.keys():
            raise UsageError(
                f"--topic: topic '{topic}' has no partition {min(strange)}, and there is no committed offset for it; "
                f"the number of partitions is {len(entry.leaders)}"
            )
    return failures


def _subscribed(group: Group) -> set[str]:
    """Return the topics that members are subscribed to or assigned."""
    members = group.members or ()
    subscribed = {topic for member in members for topic in member.subscription.topics}
    return subscribed | {entry.topic for member in members for entry in member.assignment.topics}


def _refusal(group: str, topic: str) -> Failure:
    error = kafka_error(Code.group_subscribed_to_topic, f"group '{group}': a member is subscribed to the topic")
    return error.failure(Scope.TOPIC, topic, api="DescribeGroups")
