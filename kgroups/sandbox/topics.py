"""Create, fill, and delete topics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from types import MappingProxyType
from typing import Any, Final

from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.config.settings import ClientSettings
from kgroups.errors import SandboxError
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import ClusterMetadata, Metadata
from kgroups.protocol.error_codes import Code, KafkaError

from .wire.create_topics import CreateTopics

_TIMEOUT: Final = 60.0
_POLL: Final = 0.02


async def create_topics(cluster: Cluster, topics: Mapping[str, int]) -> None:
    """Create topics, name -> number of partitions, and return when every broker knows their leaders.

    :raises SandboxError: when one cannot be created, or exists already.
    """
    before = await _existing(cluster, topics)
    errors: Mapping[str, KafkaError | None] = {}
    for node in cluster.nodes_by_health():
        errors = await cluster.call(node, CreateTopics(topics))
        if not any(error and error.code == Code.not_controller for error in errors.values()):
            break
    for topic, error in sorted(errors.items()):
        # A busy broker forwards a request to the controller twice; the second time, the topic exists.
        if error and (error.code != Code.topic_already_exists or topic in before):
            raise SandboxError(f"topic {topic} cannot be created: {error.name}")
    await _await_leaders(cluster, topics)


async def _existing(cluster: Cluster, topics: Mapping[str, int]) -> set[str]:
    """Return the topics that exist."""
    metadata = await cluster.call(cluster.nodes_by_health()[0], Metadata(tuple(topics)))
    return {each.topic for each in metadata.topics if each.leaders}


async def _await_leaders(cluster: Cluster, topics: Mapping[str, int]) -> None:
    """Wait until all brokers know the leaders; until then, they reject commits."""
    until = time.monotonic() + _TIMEOUT
    for node in cluster.nodes_by_health():
        while missing := _without_leaders(await cluster.call(node, Metadata(tuple(topics))), topics):
            if time.monotonic() > until:
                raise SandboxError(f"{node} does not know the leaders of {', '.join(missing)} after {_TIMEOUT:g} s")
            await asyncio.sleep(_POLL)


def _without_leaders(metadata: ClusterMetadata, topics: Mapping[str, int]) -> list[str]:
    led = {each.topic: [at for at in each.leaders.values() if isinstance(at, int)] for each in metadata.topics}
    return sorted(topic for topic, partitions in topics.items() if len(led.get(topic, ())) < partitions)


def make_topics(settings: ClientSettings, records: Mapping[str, Mapping[int, int]]) -> None:
    """Create topics with a number of records in each partition (topic -> partition -> number).

    :raises SandboxError: when one cannot be created, or exists already, or records are not written.
    """
    asyncio.run(_make(settings, records))
    fill(settings.bootstrap_servers, records)


async def _make(settings: ClientSettings, records: Mapping[str, Mapping[int, int]]) -> None:
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        await create_topics(cluster, {topic: len(partitions) for topic, partitions in records.items()})


def fill(bootstrap: str, records: Mapping[str, Mapping[int, int]]) -> None:
    """Write a number of records (topic -> partition -> number), and return when all are in the logs.

    :raises SandboxError: when they are not written.
    """
    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "kgroups-sandbox", "linger.ms": 20})
    try:
        for topic, partitions in records.items():
            for partition, count in partitions.items():
                for number in range(count):
                    producer.produce(topic, f"{topic} {partition} {number}".encode(), partition=partition)
        left = producer.flush(_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"records were not written: {error}") from None
    if left:
        raise SandboxError(f"{left} records were not written in {_TIMEOUT:g} s")


def delete_records(bootstrap: str, starts: Mapping[str, Mapping[int, int]]) -> None:
    """Delete the records before these offsets (topic -> partition -> offset), as retention does.

    :raises SandboxError: when the brokers do not.
    """
    admin = admin_client(bootstrap)
    wanted = [TopicPartition(topic, *pair) for topic, partitions in starts.items() for pair in partitions.items()]
    wait_done("records were not deleted", admin.delete_records(wanted).values())


def delete_topic(bootstrap: str, topic: str) -> None:
    """Delete a topic.

    :raises SandboxError: when the brokers reject it.
    """
    admin = admin_client(bootstrap)
    wait_done(f"topic {topic} was not deleted", admin.delete_topics([topic]).values())


def admin_client(bootstrap: str, settings: Mapping[str, str | int] = MappingProxyType({})) -> AdminClient:
    """Return an admin client of librdkafka. The caller must keep a reference until its futures are done.

    :param settings: further settings of librdkafka, such as a login.
    """
    return AdminClient({"bootstrap.servers": bootstrap, "client.id": "kgroups-sandbox", "log_level": 3, **settings})


def wait_done(message: str, futures: Iterable[Future[Any]]) -> None:
    """Wait for futures of an admin client.

    :raises SandboxError: when one fails, or is not done in time; it begins with ``message``.
    """
    try:
        for future in futures:
            future.result(_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"{message}: {error}") from None
    except TimeoutError:
        raise SandboxError(f"{message} in {_TIMEOUT:g} s") from None
