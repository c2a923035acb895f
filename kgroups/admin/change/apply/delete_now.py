"""Delete what the Java-compatible tools delete without a plan or an undo file, and report what the broker returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from kgroups.errors import BrokerUnavailable, ClusterUnreachable, KgroupsError, OutcomeUnknown, Reason
from kgroups.model.groups import GroupId
from kgroups.model.operations.results import DeletedOffset, DeletedTopic, DeletedTopicOffsets, TopicDeletion
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.model.topic_scope import TopicScope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import delete_share_group_offsets, offset_delete
from kgroups.protocol.apis import delete_topics as delete_topics_api
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError
from kgroups.protocol.versions import Api

from ...routing.partition_leaders import partition_name, topic_leaders
from ...routing.query_coordinators import GroupQuery, GroupResults, query_coordinators

K = TypeVar("K")

_DOUBTFUL = frozenset({Code.request_timed_out})
"""Errors with an unknown result: the controller continues the deletion."""


async def delete_offsets_now(cluster: Cluster, group: GroupId, topics: TopicScope) -> Outcome[DeletedOffset]:
    """Delete committed offsets that may not exist: those are deleted at once.

    One item for each partition, sorted; one without a partition for a topic that cannot be looked up.
    """
    failed: list[DeletedOffset] = []
    wanted: dict[str, tuple[int, ...]] = {}
    leaders = await topic_leaders(cluster, sorted(topics))
    for topic, partitions in sorted(topics.items()):
        found = partitions if partitions is not None else _partitions(leaders.get(topic), topic)
        if isinstance(found, Failure):
            failed.append(DeletedOffset(group, topic, None, found))
        else:
            wanted[topic] = tuple(sorted(found))

    def call(_: tuple[GroupId, ...]) -> offset_delete.OffsetDelete:
        return offset_delete.OffsetDelete(group, wanted)

    query = GroupQuery("groups written", offset_delete.API, call, chunk=1, changes=True)
    results = await query_coordinators(cluster, query, {group: None})

    def deleted(topic: str, partition: int) -> DeletedOffset:
        key = (topic, partition)
        failure = _failure(group, key, partition_name(key), Scope.PARTITION, offset_delete.API, results)
        return DeletedOffset(group, topic, partition, failure)

    done = [deleted(topic, partition) for topic, partitions in wanted.items() for partition in partitions]
    return Outcome((*failed, *done), () if done else tuple(results.failed.values()))


def _partitions(entry: TopicLeaders | None, topic: str) -> Iterable[int] | Failure:
    """Return the partitions of a topic, or why they are unknown."""
    if entry is None:
        return Failure(
            Scope.TOPIC, topic, "missing in the broker's response", api="Metadata", reason=Reason.INVALID_RESPONSE
        )
    return entry.error.failure(Scope.TOPIC, topic, api="Metadata") if entry.error else entry.leaders


def _failure(
    group: GroupId, key: K, name: str, scope: Scope, api: Api, results: GroupResults[Mapping[K, KafkaError | None]]
) -> Failure | None:
    """Return the failure of a partition or topic of the group; ``None`` if the broker reported success."""
    if group in results.failed:
        return results.failed[group]
    node, errors = results.found[group]
    if key not in errors:
        return Failure(scope, name, "missing in the broker's response", api=api.name, reason=Reason.INVALID_RESPONSE)
    error = errors[key]
    return error.failure(scope, name, api=api.name, broker=node.id) if error else None


async def delete_share_offsets(cluster: Cluster, group: GroupId, topics: Iterable[str]) -> Outcome[DeletedTopicOffsets]:
    """Delete the start offsets of a share group in topics; one item for each topic, sorted.

    A failure of the whole group is repeated for each topic.
    """
    wanted = tuple(sorted(set(topics)))

    def call(_: tuple[GroupId, ...]) -> delete_share_group_offsets.DeleteShareGroupOffsets:
        return delete_share_group_offsets.DeleteShareGroupOffsets(group, wanted)

    query = GroupQuery("groups written", delete_share_group_offsets.API, call, chunk=1, changes=True)
    results = await query_coordinators(cluster, query, {group: None})

    def deleted(topic: str) -> DeletedTopicOffsets:
        failure = _failure(group, topic, topic, Scope.TOPIC, delete_share_group_offsets.API, results)
        return DeletedTopicOffsets(group, topic, failure)

    return Outcome(tuple(map(deleted, wanted)))


async def delete_topics(cluster: Cluster, planned: Sequence[TopicDeletion]) -> Outcome[DeletedTopic]:
    """Delete internal topics of streams groups; one item for each, in the order given.

    A topic that no longer exists is a failure: another client may recreate it.
    """
    if not planned:
        return Outcome()
    names = tuple(dict.fromkeys(entry.topic for entry in planned))
    results, reason = await _send(cluster, names)
    items = [_deleted_topic(entry, results, reason) for entry in planned]
    return Outcome(tuple(items), tuple(item.failure for item in items if item.failure))


async def _send(cluster: Cluster, names: tuple[str, ...]) -> tuple[dict[str, str | KafkaError], KgroupsError | None]:
    """Return the result of each topic, or why there is none. After the request was sent, no other broker is tried."""
    call = delete_topics_api.DeleteTopics(names, int(cluster.settings.broker_timeout * 1000))
    reason: KgroupsError = ClusterUnreachable("the cluster has no brokers", reason=Reason.NO_BROKERS)
    for node in cluster.nodes_by_health():
        try:
            return dict(await cluster.change(node, call)), None
        except OutcomeUnknown as error:
            return {}, error
        except BrokerUnavailable as error:
            reason = error
        except KgroupsError as error:
            return {}, error
    return {}, reason


def _deleted_topic(
    entry: TopicDeletion, results: dict[str, str | KafkaError], reason: KgroupsError | None
) -> DeletedTopic:
    name, group = entry.topic, entry.group.group
    answer = results.get(name)
    if isinstance(answer, str):
        return DeletedTopic(group, name, Result.APPLIED)
    if isinstance(answer, KafkaError):
        result = Result.UNKNOWN if answer.code in _DOUBTFUL else Result.FAILED
        return DeletedTopic(group, name, result, answer.failure(Scope.TOPIC, name, api=delete_topics_api.API.name))
    unknown = reason is None or isinstance(reason, OutcomeUnknown)
    failure = Failure(
        Scope.TOPIC,
        name,
        "missing in the broker's response",
        api=delete_topics_api.API.name,
        reason=Reason.INVALID_RESPONSE,
    )
    if reason:
        failure = Failure.of(reason, Scope.TOPIC, name, api=delete_topics_api.API.name)
    return DeletedTopic(group, name, Result.UNKNOWN if unknown else Result.FAILED, failure)
