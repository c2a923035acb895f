"""Metadata (key 3): the brokers, and the leaders of the partitions of topics.

v1  an empty list of topics means none (v0: all)
v2  cluster ID
v4  topics are not created by the request (KIP-204, Kafka 0.11)
v7  leader epochs (KIP-320, Kafka 2.1)
v8  authorized operations on the cluster and on topics, on request (KIP-430, Kafka 2.3)
v10 topic IDs (KIP-516, Kafka 2.8). Later versions lack the operations, which would require DescribeCluster: not used
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from kgroups.model.cluster import Node

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(3, "Metadata", 1, 10, flexible=9, throttled_from=6)

_CLUSTER_ID, _THROTTLE, _NO_CREATION, _OFFLINE, _EPOCHS, _OPERATIONS = 2, 3, 4, 5, 7, 8
_TOPIC_IDS = 10
"""The first version that has each."""

MOST_BROKERS = 5_000

_NO, _YES = b"\0", b"\1"
_NO_ID = bytes(16)


class TopicLeaders(NamedTuple):
    """The leader of each partition of a topic: a broker ID, or an error.

    ``topic_id`` has 128 bits, and is 0 if it is not reported (before Kafka 2.8). ``epochs`` are the leader epochs by
    partition, empty before Kafka 2.1. ``out_of_sync`` are the partitions with a replica that is not in sync.
    ``operations`` are the authorized operations; ``None`` if they were not requested or not reported.
    """

    topic: str
    error: KafkaError | None
    leaders: Mapping[int, int | KafkaError]
    topic_id: int = 0
    epochs: Mapping[int, int] = MappingProxyType({})
    out_of_sync: frozenset[int] = frozenset()
    operations: frozenset[str] | None = None


class ClusterMetadata(NamedTuple):
    """The brokers of a cluster, and the leaders of the requested topics.

    ``operations`` are Kafka's names of the authorized operations on the cluster. They are empty without DESCRIBE on it,
    and ``None`` if they were not requested or not reported. ``controller`` is a broker ID, or -1.
    """

    cluster_id: str | None
    nodes: tuple[Node, ...]
    topics: tuple[TopicLeaders, ...]
    operations: frozenset[str] | None = None
    controller: int = -1


class Metadata(NamedTuple):
    """Request the brokers, and the leaders of ``topics``; never create a topic (v4 and later).

    ``None`` requests all topics that the principal is authorized to DESCRIBE. ``operations`` requests the authorized
    operations on the cluster, ``of_topics`` those on each topic.
    """

    topics: tuple[str, ...] | None = ()
    operations: bool = False
    of_topics: bool = False

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.topics or ())

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        no_id = _NO_ID if version >= _TOPIC_IDS else b""
        topics = (
            form.null_array
            if self.topics is None
            else form.array(no_id + form.string(name) + form.tags for name in self.topics)
        )
        create = _NO if version >= _NO_CREATION else b""
        wanted = b"".join(_YES if asked else _NO for asked in (self.operations, self.of_topics))
        operations = wanted if version >= _OPERATIONS else b""
        return topics + create + operations + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> ClusterMetadata:
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            nodes = sorted([_node(reader) for _ in reader.turns(_plausible(reader.count()))])
            cluster_id = reader.nullable_string() if version >= _CLUSTER_ID else None
            controller = reader.int32()
            topics = [_topic(reader, version) for _ in reader.turns(reader.count())]
            operations = operations_of(reader.int32()) if version >= _OPERATIONS else None
            reader.tags()
            reader.end()
        return ClusterMetadata(cluster_id, tuple(nodes), tuple(topics), operations, controller)


def _plausible(brokers: int) -> int:
    """Check the number of brokers, since kgroups connects to each.

    :raises ValueError: for more brokers than any cluster has.
    """
    if brokers > MOST_BROKERS:
        raise ValueError(f"it names {brokers:,} brokers; kgroups accepts at most {MOST_BROKERS:,}")
    return brokers


def _node(reader: Reader) -> Node:
    node = Node(reader.int32(), reader.string(), reader.int32())
    reader.nullable_string()  # rack
    reader.tags()
    return node


def _topic(reader: Reader, version: int) -> TopicLeaders:
    error = Code(reader.int16())
    name = reader.string()
    topic_id = reader.uuid() if version >= _TOPIC_IDS else 0
    reader.skip(1)  # internal
    partitions = [_partition(reader, version) for _ in reader.turns(reader.count())]
    operations = operations_of(reader.int32()) if version >= _OPERATIONS else None
    reader.tags()
    return TopicLeaders(
        name,
        kafka_error(error) if error else None,
        {index: leader for index, leader, _, _ in partitions},
        topic_id,
        {index: epoch for index, _, epoch, _ in partitions} if version >= _EPOCHS else {},
        frozenset([index for index, _, _, in_sync in partitions if not in_sync]),
        operations,
    )


def _partition(reader: Reader, version: int) -> tuple[int, int | KafkaError, int, bool]:
    """Return index, leader, leader epoch, and whether all replicas are in sync."""
    error, partition, leader = Code(reader.int16()), reader.int32(), reader.int32()
    epoch = reader.int32() if version >= _EPOCHS else -1
    replicas = reader.count()
    reader.skip(4 * replicas)
    in_sync = reader.count()
    reader.skip(4 * in_sync)
    if version >= _OFFLINE:
        reader.skip(4 * reader.count())
    reader.tags()
    # A replica that is down is an error of the partition too (REPLICA_NOT_AVAILABLE), but its leader is available.
    return (
        partition,
        leader if leader >= 0 else kafka_error(error or Code.leader_not_available),
        epoch,
        in_sync == replicas,
    )


_NAMES = {
    3: "READ",
    4: "WRITE",
    5: "CREATE",
    6: "DELETE",
    7: "ALTER",
    8: "DESCRIBE",
    9: "CLUSTER_ACTION",
    10: "DESCRIBE_CONFIGS",
    11: "ALTER_CONFIGS",
    12: "IDEMPOTENT_WRITE",
    13: "CREATE_TOKENS",
    14: "DESCRIBE_TOKENS",
}
"""By Java's code of the operation, which is the number of its bit."""

UNAVAILABLE = -(1 << 31)
"""Not supported or not requested. A principal without DESCRIBE receives 0."""


def operations_of(bits: int) -> frozenset[str] | None:
    """Return Kafka's names of the operations, or ``None`` if they are unavailable."""
    return None if bits == UNAVAILABLE else frozenset([name for bit, name in _NAMES.items() if bits >> bit & 1])
