"""Topics with records in them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from kgroups.config.settings import ClientSettings
from kgroups.errors import SandboxError
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import ClusterMetadata, Metadata
from kgroups.protocol.error_codes import Code, KafkaError
from kgroups.sandbox.wire.create_topics import CreateTopics

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

_TIMEOUT: Final = 60.0
_POLL: Final = 0.02


async def create_topics(cluster: Cluster, topics: Mapping[str, int]) -> None:
    """Makes topics, name -> number of partitions, and returns when every broker knows their leaders.

    :raises SandboxError: when one cannot be made, or is there already.
    """
    answer: Mapping[str, KafkaError | None] = {}
    for node in cluster.nodes_by_health():
        answer = await cluster.call(node, CreateTopics(topics))
        if not any(error and error.code == Code.not_controller for error in answer.values()):
            break
    for topic, error in sorted(answer.items()):
        if error:
            raise SandboxError(f"topic {topic} cannot be made: {error.name}")
    await _await_leaders(cluster, topics)


async def _await_leaders(cluster: Cluster, topics: Mapping[str, int]) -> None:
    """Brokers hear of new topics a moment after the controller has answered, and refuse commits on them until then."""
    until = time.monotonic() + _TIMEOUT
    for node in cluster.nodes_by_health():
        while missing := _without_leaders(await cluster.call(node, Metadata(tuple(topics))), topics):
            if time.monotonic() > until:
                raise SandboxError(f"{node} does not know who leads {', '.join(missing)} after {_TIMEOUT:g} s")
            await asyncio.sleep(_POLL)


def _without_leaders(told: ClusterMetadata, topics: Mapping[str, int]) -> list[str]:
    led = {each.topic: [at for at in each.leaders.values() if isinstance(at, int)] for each in told.topics}
    return sorted(topic for topic, partitions in topics.items() if len(led.get(topic, ())) < partitions)


def make_topics(settings: ClientSettings, records: Mapping[str, Mapping[int, int]]) -> None:
    """Makes topics with so many records (topic -> partition -> number) in them.

    :raises SandboxError: when one cannot be made, or is there already, or records are not taken.
    """
    asyncio.run(_make(settings, records))
    fill(settings.bootstrap_servers, records)


async def _make(settings: ClientSettings, records: Mapping[str, Mapping[int, int]]) -> None:
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        await create_topics(cluster, {topic: len(partitions) for topic, partitions in records.items()})


def fill(bootstrap: str, records: Mapping[str, Mapping[int, int]]) -> None:
    """Writes so many records (topic -> partition -> number), and returns when all are in the logs.

    :raises SandboxError: when they are not taken.
    """
    from confluent_kafka import KafkaException, Producer

    producer = Producer({"bootstrap.servers": bootstrap, "client.id": "kgroups-sandbox", "linger.ms": 20})
    try:
        for topic, partitions in records.items():
            for partition, count in partitions.items():
                for number in range(count):
                    producer.produce(topic, f"{topic} {partition} {number}".encode(), partition=partition)
        left = producer.flush(_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"records were not taken: {error}") from None
    if left:
        raise SandboxError(f"{left} records were not taken in {_TIMEOUT:g} s")


def delete_records(bootstrap: str, starts: Mapping[str, Mapping[int, int]]) -> None:
    """Lets logs start at these offsets (topic -> partition -> offset), as retention would.

    :raises SandboxError: when the brokers do not.
    """
    from confluent_kafka import TopicPartition

    admin = _admin(bootstrap)
    wanted = [TopicPartition(topic, *pair) for topic, partitions in starts.items() for pair in partitions.items()]
    _await("records were not deleted", admin.delete_records(wanted).values())


def delete_topic(bootstrap: str, topic: str) -> None:
    """:raises SandboxError: when the brokers refuse."""
    admin = _admin(bootstrap)
    _await(f"topic {topic} was not deleted", admin.delete_topics([topic]).values())


def _admin(bootstrap: str) -> AdminClient:
    # To be held by the caller until its futures are done: it takes them with it.
    from confluent_kafka.admin import AdminClient

    return AdminClient({"bootstrap.servers": bootstrap, "client.id": "kgroups-sandbox", "log_level": 3})


def _await(complaint: str, futures: Iterable[Future[Any]]) -> None:
    from confluent_kafka import KafkaException

    try:
        for future in futures:
            future.result(_TIMEOUT)
    except KafkaException as error:
        raise SandboxError(f"{complaint}: {error}") from None
    except TimeoutError:
        raise SandboxError(f"{complaint} in {_TIMEOUT:g} s") from None
