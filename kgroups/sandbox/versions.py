"""The Kafka versions a sandbox can run, and all that differs between them, as data.

Why these six: 1.1.1 is the floor (no state filter, no batched coordinators); 2.5.1 and 2.8.2 come before
FindCoordinator v4 and OffsetFetch v8 (Kafka 3.0), without and with ListGroups v4; 3.9.1 is the last line of 3.x, with
consumer groups (KIP-848) in preview; 4.3.1 has consumer, share (KIP-932) and streams (KIP-1071) groups; 4.4.0 has the
newest broker, whose tools and clients are not published: those of 4.3.1 are used with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kgroups.errors import SandboxError


class Coordinate(NamedTuple):
    """A Maven artifact; its runtime dependencies come with it, unless it comes ``alone``."""

    group: str
    artifact: str
    version: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class KafkaVersion:
    name: str
    coordinates: tuple[Coordinate, ...]
    zookeeper: bool
    """Needs a ZooKeeper; otherwise KRaft, whose folders must be formatted first."""
    group_types: tuple[str, ...]
    """The types of group its coordinator serves, in ListGroups' words."""
    group_command: str
    """Class of ``kafka-consumer-groups.sh``."""
    console_consumer: str
    console_producer: str
    share_consumer: str | None = None
    """Class of ``kafka-console-share-consumer.sh``, where there are share groups."""
    streams: Coordinate | None = None
    """What an application of Kafka Streams needs beside the broker's jars, where the sandbox can run one."""
    connect: Coordinate | None = None
    """The connectors of a Connect worker, where the broker's jars have all else of it."""
    static_members: bool = True
    """Has KIP-345 (Kafka 2.3)."""
    final_consumer_protocol: bool = False
    """Has KIP-848 as it was finished (Kafka 4.0), not its preview."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Server settings that only this version needs."""
    tools: str | None = None
    """The version whose tools and clients run beside this broker, where its own are not published."""


def _kafka(version: str, *artifacts: str) -> tuple[Coordinate, ...]:
    return tuple(Coordinate("org.apache.kafka", artifact, version) for artifact in artifacts)


def _log4j12(version: str) -> tuple[Coordinate, ...]:
    # The old core jars bring slf4j's API without a backend: the broker's log would be lost.
    return (Coordinate("org.slf4j", "slf4j-log4j12", version),)


def _old(version: str, *coordinates: Coordinate, static_members: bool = True) -> KafkaVersion:
    return KafkaVersion(
        version,
        coordinates=coordinates,
        zookeeper=True,
        group_types=("classic",),
        group_command="kafka.admin.ConsumerGroupCommand",
        console_consumer="kafka.tools.ConsoleConsumer",
        console_producer="kafka.tools.ConsoleProducer",
        static_members=static_members,
    )


_LOG4J2 = Coordinate("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")

_4_3 = KafkaVersion(
    "4.3.1",
    # kafka-tools brings log4j-core, but not the bridge from slf4j that lets the broker reach it.
    coordinates=(*_kafka("4.3.1", "kafka-tools", "kafka_2.13"), _LOG4J2),
    zookeeper=False,
    group_types=("classic", "consumer", "share", "streams"),
    group_command="org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    console_consumer="org.apache.kafka.tools.consumer.ConsoleConsumer",
    console_producer="org.apache.kafka.tools.ConsoleProducer",
    share_consumer="org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    # Alone: all else is among the broker's jars, but for RocksDB (70 MB): a store in memory does without.
    streams=Coordinate("org.apache.kafka", "kafka-streams", "4.3.1", alone=True),
    connect=Coordinate("org.apache.kafka", "connect-file", "4.3.1", alone=True),
    final_consumer_protocol=True,
    properties={"group.coordinator.rebalance.protocols": "classic,consumer,share,streams"},
)

_ALL = (
    _old("1.1.1", *_kafka("1.1.1", "kafka_2.12"), *_log4j12("1.7.25"), static_members=False),
    _old("2.5.1", *_kafka("2.5.1", "kafka_2.12"), *_log4j12("1.7.30")),
    _old("2.8.2", *_kafka("2.8.2", "kafka_2.13"), *_log4j12("1.7.30")),
    KafkaVersion(
        "3.9.1",
        # kafka-tools brings slf4j-reload4j, a backend, by itself.
        coordinates=_kafka("3.9.1", "kafka-tools", "kafka_2.13"),
        zookeeper=False,
        group_types=("classic", "consumer"),
        group_command="org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        console_consumer="org.apache.kafka.tools.consumer.ConsoleConsumer",
        console_producer="kafka.tools.ConsoleProducer",
        properties={"group.coordinator.rebalance.protocols": "classic,consumer"},
    ),
    _4_3,
    replace(_4_3, name="4.4.0", coordinates=(*_kafka("4.4.0", "kafka_2.13"), _LOG4J2), tools="4.3.1"),
)

VERSIONS: Mapping[str, KafkaVersion] = {version.name: version for version in _ALL}
DEFAULT_VERSION = "4.3.1"
"""The newest version whose tools are published."""


def kafka_version(name: str) -> KafkaVersion:
    """The version of that name.

    :raises SandboxError: when a sandbox cannot run it.
    """
    try:
        return VERSIONS[name]
    except KeyError:
        raise SandboxError(f"Kafka {name} is not one the sandbox can run; choose from {', '.join(VERSIONS)}") from None


def tools_version(version: KafkaVersion) -> KafkaVersion:
    """Return the version whose tools and clients run beside a broker: its own, where they are published."""
    return kafka_version(version.tools) if version.tools else version
