"""The Kafka versions that a sandbox can run, and their differences, as data.

The reasons for these six: 1.1.1 is the oldest supported version (no state filter, no batched FindCoordinator); 2.5.1
and 2.8.2 precede FindCoordinator v4 and OffsetFetch v8 (Kafka 3.0), without and with ListGroups v4; 3.9.1 is the last
3.x release, with a preview of consumer groups (KIP-848); 4.3.1 has consumer, share (KIP-932), and streams (KIP-1071)
groups; 4.4.0 is the newest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kgroups.errors import UsageError


class Coordinate(NamedTuple):
    """A Maven artifact, with its runtime dependencies unless it is ``alone``."""

    group: str
    artifact: str
    version: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class KafkaVersion:
    name: str
    coordinates: tuple[Coordinate, ...]
    zookeeper: bool
    """Requires ZooKeeper; otherwise KRaft, whose folders must be formatted first."""
    group_types: tuple[str, ...]
    """The group types that its coordinator supports, as in ListGroups."""
    group_command: str
    """The class of ``kafka-consumer-groups.sh``."""
    console_consumer: str
    console_producer: str
    share_consumer: str | None = None
    """The class of ``kafka-console-share-consumer.sh``, if there are share groups."""
    streams: Coordinate | None = None
    """What Kafka Streams needs in addition to the broker's jars, if the sandbox supports it."""
    connect: Coordinate | None = None
    """The connectors of a Connect worker, if the sandbox supports it; the broker's jars contain the rest."""
    mirror: tuple[Coordinate, ...] = ()
    """What MirrorMaker 2 needs in addition to the broker's jars, if the sandbox supports it."""
    static_members: bool = True
    """Supports KIP-345 (Kafka 2.3)."""
    final_consumer_protocol: bool = False
    """Supports the final KIP-848 (Kafka 4.0), not only its preview."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """Server settings that only this version needs."""
    tools: tuple[Coordinate, ...] = ()
    """The tools and clients, if they have a class path of their own; otherwise they are in the broker's."""


def _kafka(version: str, *artifacts: str) -> tuple[Coordinate, ...]:
    return tuple(Coordinate("org.apache.kafka", artifact, version) for artifact in artifacts)


def _log4j12(version: str) -> tuple[Coordinate, ...]:
    # The old core jars contain slf4j's API without a backend: the broker's log would be lost.
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

_LOG4J2_OF_4_4 = tuple(
    Coordinate("org.apache.logging.log4j", name, "2.25.4") for name in ("log4j-slf4j-impl", "log4j-core", "log4j-api")
)
"""Also the backend: brokers ask for a newer one, which Ivy would take, and Maven would not."""

_4_3 = KafkaVersion(
    "4.3.1",
    # kafka-tools contains log4j-core, but not the bridge from slf4j that the broker needs.
    coordinates=(*_kafka("4.3.1", "kafka-tools", "kafka_2.13"), _LOG4J2),
    zookeeper=False,
    group_types=("classic", "consumer", "share", "streams"),
    group_command="org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    console_consumer="org.apache.kafka.tools.consumer.ConsoleConsumer",
    console_producer="org.apache.kafka.tools.ConsoleProducer",
    share_consumer="org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    # Alone: the broker's jars contain the rest, except RocksDB (70 MB), which an in-memory store does not need.
    streams=Coordinate("org.apache.kafka", "kafka-streams", "4.3.1", alone=True),
    connect=Coordinate("org.apache.kafka", "connect-file", "4.3.1", alone=True),
    mirror=tuple(
        Coordinate("org.apache.kafka", f"connect-{name}", "4.3.1", alone=True) for name in ("mirror", "mirror-client")
    ),
    final_consumer_protocol=True,
)

_ALL = (
    _old("1.1.1", *_kafka("1.1.1", "kafka_2.12"), *_log4j12("1.7.25"), static_members=False),
    _old("2.5.1", *_kafka("2.5.1", "kafka_2.12"), *_log4j12("1.7.30")),
    _old("2.8.2", *_kafka("2.8.2", "kafka_2.13"), *_log4j12("1.7.30")),
    KafkaVersion(
        "3.9.1",
        # kafka-tools contains slf4j-reload4j, a backend.
        coordinates=_kafka("3.9.1", "kafka-tools", "kafka_2.13"),
        zookeeper=False,
        group_types=("classic", "consumer"),
        group_command="org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        console_consumer="org.apache.kafka.tools.consumer.ConsoleConsumer",
        console_producer="kafka.tools.ConsoleProducer",
        properties={"group.coordinator.rebalance.protocols": "classic,consumer"},
    ),
    _4_3,
    replace(
        _4_3,
        name="4.4.0",
        # Without the tools: a cache that earlier versions of kgroups filled stays valid.
        coordinates=(*_kafka("4.4.0", "kafka_2.13"), *_LOG4J2_OF_4_4),
        tools=(*_kafka("4.4.0", "kafka-tools", "kafka_2.13"), *_LOG4J2_OF_4_4),
        streams=Coordinate("org.apache.kafka", "kafka-streams", "4.4.0", alone=True),
        mirror=(),  # not published, as connect-file, whose 4.3.1 runs in a worker of 4.3.1
    ),
)

VERSIONS: Mapping[str, KafkaVersion] = {version.name: version for version in _ALL}
DEFAULT_VERSION = "4.4.0"

_FIRST_FINAL = replace(
    _4_3,
    name="4.0.2",
    coordinates=(*_kafka("4.0.2", "kafka-tools", "kafka_2.13"), _LOG4J2),
    group_types=("classic", "consumer"),
    share_consumer=None,
    streams=None,
    connect=None,
    mirror=(),
)
FURTHER: Mapping[str, KafkaVersion] = {_FIRST_FINAL.name: _FIRST_FINAL}
"""Versions that few tests run: the first with the final consumer protocol, whose rules of migration it has."""


def kafka_version(name: str) -> KafkaVersion:
    """Return the version of that name.

    :raises UsageError: when a sandbox cannot run it.
    """
    try:
        return {**VERSIONS, **FURTHER}[name]
    except KeyError:
        raise UsageError(f"the sandbox does not support Kafka {name}; choose from {', '.join(VERSIONS)}") from None
