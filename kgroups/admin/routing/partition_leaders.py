"""Find the leaders of partitions, which answer requests about their logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kgroups.errors import KgroupsError, Reason
from kgroups.model.cluster import Node
from kgroups.model.offsets import place_name
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import metadata
from kgroups.protocol.error_codes import LEADER_MOVED, NOT_AUTHORIZED, KafkaError

TOPICS_PER_REQUEST = 2_000

LEADER_ROUNDS = 3
"""How often the leader of a partition is looked up: elections are over by then, and outages last longer anyway."""

TopicPartition = tuple[str, int]
Topics = Mapping[str, metadata.TopicLeaders]
NO_TOPICS: Topics = MappingProxyType({})


class PartitionsByLeader:
    """The partitions of each leader, and the failures of partitions without a usable leader.

    ``topic_ids``: topic -> its ID as a 128-bit number, if brokers report it (Kafka 2.8). ``sizes``: topic -> its number
    of partitions.
    """

    def __init__(self) -> None:
        self.leaders: dict[Node, list[TopicPartition]] = {}
        self.failures: dict[TopicPartition, Failure] = {}
        self.topic_ids: dict[str, int] = {}
        self.sizes: dict[str, int] = {}


async def find_leaders(
    cluster: Cluster, pairs: Iterable[TopicPartition], *, whole_topics: bool = False, known: Topics = NO_TOPICS
) -> PartitionsByLeader:
    """Look up the leaders of partitions; with ``whole_topics``, also those of the other partitions of their topics.

    :param known: what was reported a moment ago about some topics, which are not looked up again. A broker that no
        longer leads a partition rejects requests about it with NOT_LEADER_OR_FOLLOWER.
    """
    requested = by_topic(sorted(pairs))
    usable = {name: known[name] for name in requested if name in known and _usable(known[name], requested[name])}
    unknown = [name for name in requested if name not in usable]
    metadata_of, failed = await read_topics(cluster, unknown) if unknown else ({}, {})
    metadata_of.update(usable)
    by_leader = PartitionsByLeader()
    for topic, partitions in requested.items():
        if topic in metadata_of:
            entry = metadata_of[topic]
            if entry.topic_id:
                by_leader.topic_ids[topic] = entry.topic_id
            by_leader.sizes[topic] = len(entry.leaders)
            others = entry.leaders if whole_topics else ()
            _place(cluster, entry, sorted({*partitions, *others}), by_leader)
            continue
        reason = failed.get(topic, "its topic is missing in the response")
        for partition in partitions:
            by_leader.failures[topic, partition] = unreachable((topic, partition), reason, "Metadata", None)
    return by_leader


async def read_topics(
    cluster: Cluster, names: Iterable[str]
) -> tuple[dict[str, metadata.TopicLeaders], dict[str, KgroupsError]]:
    """Return the metadata of topics, and the errors of topics whose request failed; one request for many topics."""
    names = tuple(names)
    chunks = [names[at : at + TOPICS_PER_REQUEST] for at in range(0, len(names), TOPICS_PER_REQUEST)]
    found: dict[str, metadata.TopicLeaders] = {}
    failed: dict[str, KgroupsError] = {}
    for chunk, response in await fan_out((chunk, cluster.refresh(chunk)) for chunk in chunks):
        if isinstance(response, KgroupsError):
            failed.update(dict.fromkeys(chunk, response))
        else:
            found.update((entry.topic, entry) for entry in response.topics)
    return found, failed


async def topic_leaders(cluster: Cluster, names: Iterable[str]) -> dict[str, metadata.TopicLeaders]:
    """Return topics, each with its partitions or its error.

    :raises KgroupsError: if no broker responds.
    """
    topics, failed = await read_topics(cluster, names)
    for error in failed.values():
        raise error
    return topics


def _usable(entry: metadata.TopicLeaders, partitions: Iterable[int]) -> bool:
    """Return whether each of these partitions had a leader."""
    return not entry.error and all(isinstance(entry.leaders.get(each), int) for each in partitions)


def _place(
    cluster: Cluster, entry: metadata.TopicLeaders, partitions: Iterable[int], by_leader: PartitionsByLeader
) -> None:
    for partition in partitions:
        pair = (entry.topic, partition)
        leader = entry.error or entry.leaders.get(partition)
        if leader is None:
            message = "the topic has no such partition now (recreated with fewer?)"
            by_leader.failures[pair] = Failure(
                Scope.PARTITION,
                partition_name(pair),
                message,
                "UNKNOWN_TOPIC_OR_PARTITION",
                3,
                "Metadata",
                reason=Reason.TOPIC_NOT_FOUND,
            )
        elif isinstance(leader, KafkaError):
            scope, name = (Scope.TOPIC, entry.topic) if entry.error else (Scope.PARTITION, partition_name(pair))
            by_leader.failures[pair] = leader.failure(scope, name, api="Metadata")
        elif leader not in cluster.nodes:
            message = f"its leader, broker {leader}, is not in the cluster's metadata"
            by_leader.failures[pair] = unreachable(pair, message, "Metadata", leader)
        else:
            by_leader.leaders.setdefault(cluster.nodes[leader], []).append(pair)


def may_heal(failure: Failure) -> bool:
    """Return whether the partition may have another leader after a retry."""
    return failure.code is not None and failure.code in LEADER_MOVED


def by_topic(pairs: Iterable[TopicPartition]) -> dict[str, tuple[int, ...]]:
    """Group partitions by topic, in the order given."""
    topics: dict[str, list[int]] = {}
    for topic, partition in pairs:
        topics.setdefault(topic, []).append(partition)
    return {topic: tuple(partitions) for topic, partitions in topics.items()}


def unreachable(pair: TopicPartition, reason: KgroupsError | str, api: str, broker: int | None) -> Failure:
    """Return the failure of a partition for which no broker reported an error code."""
    if isinstance(reason, str):
        return Failure(
            Scope.PARTITION, partition_name(pair), reason, api=api, broker=broker, reason=Reason.INVALID_RESPONSE
        )
    return Failure.of(reason, Scope.PARTITION, partition_name(pair), api=api, broker=broker)


def partition_failure(error: KafkaError, pair: TopicPartition, api: str, broker: int) -> Failure:
    """Return the failure of a partition for which a broker reported an error; if an ACL is missing, of its topic."""
    if error.code in NOT_AUTHORIZED:
        return error.failure(Scope.TOPIC, pair[0], api=api)
    return error.failure(Scope.PARTITION, partition_name(pair), api=api, broker=broker)


def partition_name(pair: TopicPartition) -> str:
    return place_name(*pair)
