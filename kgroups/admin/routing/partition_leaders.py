"""Which broker leads each partition: what has to be known before a log can be asked about."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.errors import KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.outcome import Failure, Scope
from kgroups.model.places import place_name
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import metadata
from kgroups.protocol.error_codes import LEADER_MOVED, KafkaError

TOPICS_A_REQUEST = 2_000

LEADER_ROUNDS = 3
"""How often a partition without a leader is looked up; an election takes less, an outage lasts longer anyway."""

TopicPartition = tuple[str, int]


class PartitionsByLeader:
    """Each leader with the partitions to ask it about, and the partitions that nobody can be asked about.

    ``topic_ids``: of the topics, as 128-bit numbers, where brokers report them (Kafka 2.8).
    """

    def __init__(self) -> None:
        self.leaders: dict[Node, list[TopicPartition]] = {}
        self.failures: dict[TopicPartition, Failure] = {}
        self.topic_ids: dict[str, int] = {}


async def find_leaders(
    cluster: Cluster, wanted: Iterable[TopicPartition], *, whole_topics: bool = False
) -> PartitionsByLeader:
    """Asks for metadata, many topics a request. With ``whole_topics`` also where the topics' other partitions are."""
    asked = by_topic(sorted(wanted))
    told, failed = await read_topics(cluster, asked)
    by_leader = PartitionsByLeader()
    for topic, partitions in asked.items():
        if topic in told:
            if told[topic].topic_id:
                by_leader.topic_ids[topic] = told[topic].topic_id
            others = told[topic].leaders if whole_topics else ()
            _place(cluster, told[topic], sorted({*partitions, *others}), by_leader)
            continue
        reason = failed.get(topic, "its topic was left out of the answer")
        for partition in partitions:
            by_leader.failures[topic, partition] = unreachable((topic, partition), reason, "Metadata", None)
    return by_leader


async def read_topics(
    cluster: Cluster, names: Iterable[str]
) -> tuple[dict[str, metadata.TopicLeaders], dict[str, KgroupsError]]:
    """Return the metadata of topics, read with many topics a request, and the errors of topics that were not read."""
    names = tuple(names)
    chunks = [names[at : at + TOPICS_A_REQUEST] for at in range(0, len(names), TOPICS_A_REQUEST)]
    told: dict[str, metadata.TopicLeaders] = {}
    failed: dict[str, KgroupsError] = {}
    for chunk, answer in await fan_out((chunk, cluster.refresh(chunk)) for chunk in chunks):
        if isinstance(answer, KgroupsError):
            failed.update(dict.fromkeys(chunk, answer))
        else:
            told.update((entry.topic, entry) for entry in answer.topics)
    return told, failed


def _place(
    cluster: Cluster, entry: metadata.TopicLeaders, partitions: Iterable[int], by_leader: PartitionsByLeader
) -> None:
    for partition in partitions:
        pair = (entry.topic, partition)
        leader = entry.error or entry.leaders.get(partition)
        if leader is None:
            message = "the topic has no such partition now (recreated with fewer?)"
            by_leader.failures[pair] = Failure(
                Scope.PARTITION, partition_name(pair), message, "UNKNOWN_TOPIC_OR_PARTITION", 3, "Metadata"
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
    """Whether the partition may have another leader in a moment."""
    return failure.code is not None and failure.code in LEADER_MOVED


def by_topic(pairs: Iterable[TopicPartition]) -> dict[str, tuple[int, ...]]:
    """Topic -> partitions, in the order given."""
    topics: dict[str, list[int]] = {}
    for topic, partition in pairs:
        topics.setdefault(topic, []).append(partition)
    return {topic: tuple(partitions) for topic, partitions in topics.items()}


def unreachable(pair: TopicPartition, why: KgroupsError | str, api: str, broker: int | None) -> Failure:
    """The failure of a partition of which no broker gave an error."""
    if isinstance(why, str):
        return Failure(Scope.PARTITION, partition_name(pair), why, api=api, broker=broker)
    return Failure.of(why, Scope.PARTITION, partition_name(pair), api=api, broker=broker)


def partition_name(pair: TopicPartition) -> str:
    return place_name(*pair)
