"""The configuration files of a sandbox's servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .ports import HOST
from .state import Broker
from .versions import KafkaVersion

_COMMON = {
    # Enough partitions that each of three brokers coordinates some groups; few enough to be created quickly.
    "offsets.topic.num.partitions": "12",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # A wide range: members that expire during a test, and members that stay during a demo.
    "group.min.session.timeout.ms": "1000",
    "group.max.session.timeout.ms": "86400000",
    "transaction.max.timeout.ms": "86400000",
    "auto.create.topics.enable": "false",
    "delete.topic.enable": "true",
    "num.partitions": "1",
    # The default is ten minutes: groups without members and offsets would be deleted during a test.
    "offsets.retention.check.interval.ms": "86400000",
    "log.retention.ms": "-1",
    "controlled.shutdown.enable": "false",
    # The default, 128 MB, is too large for the heap of a sandbox.
    "log.cleaner.dedupe.buffer.size": "2097152",
    # An idle thread wakes three times a second. The defaults (3 per listener, 8, 10) are for servers.
    "num.network.threads": "1",
    "num.io.threads": "2",
    "background.threads": "2",
}
_KRAFT = {
    # A killed broker stays registered and cannot start again for this time; yet it must be enough for a busy machine.
    "broker.session.timeout.ms": "6000",
    "broker.heartbeat.interval.ms": "1000",
    # No records that only show that the controller is alive: they cost a third of the CPU time of idle brokers.
    "metadata.max.idle.interval.ms": "0",
    "share.coordinator.state.topic.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.min.record.lock.duration.ms": "1000",
    # A member of a streams group learns of its tasks in heartbeats, step by step.
    "group.streams.min.heartbeat.interval.ms": "500",
    "group.streams.heartbeat.interval.ms": "500",
    "group.streams.initial.rebalance.delay.ms": "0",
}
_ZOOKEEPER = {
    "zookeeper.session.timeout.ms": "6000",  # as broker.session.timeout.ms above
    "zookeeper.connection.timeout.ms": "30000",
}


def server_properties(
    version: KafkaVersion,
    broker: Broker,
    brokers: Sequence[Broker],
    *,
    protocols: Mapping[str, str],
    zookeeper: int | None,
    data: Path,
    extra: Mapping[str, str],
    advertised: Mapping[str, int] | None = None,
) -> dict[str, str]:
    """Return the settings of one broker: the sandbox's, overridden by the version's, overridden by the caller's.

    :param protocols: the security protocol of each client listener.
    :param zookeeper: its port, for a version that requires one.
    :param advertised: the port that a listener advertises, if it is not the port that it listens on.
    """
    own = {
        "listeners": _addresses(broker.listeners),
        "advertised.listeners": _addresses({**broker.listeners, **(advertised or {})}),
        "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data),
    }
    role = _zookeeper_role(broker, zookeeper) if zookeeper else _kraft_role(broker, brokers, own)
    return {**_COMMON, **own, **role, **version.properties, **extra}


def _zookeeper_role(broker: Broker, zookeeper: int) -> dict[str, str]:
    return {**_ZOOKEEPER, "broker.id": str(broker.id), "zookeeper.connect": f"{HOST}:{zookeeper}"}


def _kraft_role(broker: Broker, brokers: Sequence[Broker], own: Mapping[str, str]) -> dict[str, str]:
    voters = ",".join(f"{b.id}@{HOST}:{b.controller}" for b in brokers if b.controller)
    role = {
        **_KRAFT,
        "node.id": str(broker.id),
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": voters,
        "listener.security.protocol.map": own["listener.security.protocol.map"] + ",CONTROLLER:PLAINTEXT",
    }
    if broker.controller:
        role["process.roles"] = "broker,controller"
        role["listeners"] = _addresses({**broker.listeners, "CONTROLLER": broker.controller})
    return role


def zookeeper_properties(port: int, data: Path) -> dict[str, str]:
    return {
        "clientPort": str(port),
        "clientPortAddress": HOST,
        "dataDir": str(data),
        "tickTime": "1000",
        "maxClientCnxns": "0",
        # Its web console requires another port, and Jetty, which Kafka does not contain.
        "admin.enableServer": "false",
    }


def controllers(brokers: int) -> range:
    """Return the brokers that are controllers too: all of three, so that any can fail; of fewer, the first."""
    return range(1, 4) if brokers == 3 else range(1, 2)


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{key}={_escaped(value)}\n" for key, value in properties.items()))


def _escaped(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
    return "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in escaped)  # the format is Latin-1


def _addresses(listeners: Mapping[str, int]) -> str:
    return ",".join(f"{name}://{HOST}:{port}" for name, port in listeners.items())


# Kafka up to 3.x reads the first form, 4.x the second. {level} is WARN for tools, whose output is used.
_LOG4J = """\
log4j.rootLogger={level}, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J2 = """\
rootLogger.level={level}
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.target=SYSTEM_ERR
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n
"""


def write_logging(folder: Path, level: str) -> list[str]:
    """Return the JVM options with which Kafka of any version logs to stderr at that level and above."""
    files = {"log4j": (f"{level}-log4j.properties", _LOG4J), "log4j2": (f"{level}-log4j2.properties", _LOG4J2)}
    for name, text in files.values():
        file = folder / name
        if not file.exists():  # otherwise a JVM that starts at this moment could find it empty
            file.write_text(text.format(level=level))
    return [
        f"-Dlog4j.configuration=file:{folder / files['log4j'][0]}",
        f"-Dlog4j2.configurationFile={folder / files['log4j2'][0]}",
    ]
