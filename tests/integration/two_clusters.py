"""Two clusters, and topics with copies, for the tests of moved groups."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox import Sandbox
from kgroups.sandbox.topics import make_topics
from tests.integration.asking import Answer, run_here
from tests.integration.conftest import calm
from tests.integration.copied_topic import BEGAN
from tests.integration.versions import MAIN

PATIENCE = 60.0

Offsets = Mapping[int, int]
"""Partition -> offset, of one topic."""


class TwoClusters(NamedTuple):
    source: str
    """Bootstrap servers; likewise ``target``."""
    target: str

    @classmethod
    @contextmanager
    def up(cls, require_kafka: Callable[[str], None]) -> Iterator[TwoClusters]:
        require_kafka(MAIN)
        name, properties = f"pytest-{os.getpid()}-two", calm(MAIN)
        with (
            Sandbox.up(MAIN, name=f"{name}-source", properties=properties) as source,
            Sandbox.up(MAIN, name=f"{name}-target", properties=properties) as target,
        ):
            yield cls(source.bootstrap, target.bootstrap)

    def create(self, topic: str, *numbers: int) -> None:
        """Create a topic and its copy, with so many records in each partition."""
        for bootstrap in self:
            make_topics(ClientSettings(parse_bootstrap(bootstrap)), {topic: dict.fromkeys(range(len(numbers)), 0)})
            for partition, number in enumerate(numbers):
                produce(bootstrap, topic, partition, number)

    def translate(self, *words: str) -> Answer:
        return run_here("translate", "--from", self.source, "--to", self.target, "-o", "json", *words)

    def parity(self, *words: str) -> Answer:
        return run_here("parity", self.source, self.target, "-o", "json", *words)


def produce(bootstrap: str, topic: str, partition: int, number: int, first: int = 0) -> None:
    """Produce records that say which they are."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
    for at in range(first, first + number):
        text = f"{partition}: {at}".encode()
        producer.produce(topic, text, text, partition, timestamp=BEGAN + 1000 * at)
    assert producer.flush(PATIENCE) == 0


def commit(bootstrap: str, group: str, topic: str, offsets: Offsets) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    made = [TopicPartition(topic, *each) for each in offsets.items()]
    admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, made)])[group].result(PATIENCE)


def committed(bootstrap: str, group: str) -> dict[tuple[str, int], int]:
    """Return the committed offsets of a group, by topic and partition."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(PATIENCE)
    return {(each.topic, each.partition): each.offset for each in found.topic_partitions if each.offset >= 0}


def joined(bootstrap: str, group: str, topic: str, reset: str = "latest") -> Consumer:
    """Return a consumer that owns partitions of a topic."""
    settings = {"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": reset}
    consumer = Consumer({**settings, "enable.auto.commit": False})
    consumer.subscribe([topic])
    until = time.monotonic() + PATIENCE
    while not consumer.assignment():
        assert time.monotonic() < until
        consumer.poll(0.1)
    return consumer


@contextmanager
def in_transaction(bootstrap: str, group: str, topic: str, offsets: Offsets) -> Iterator[None]:
    """Commit offsets in a transaction, which is open until the end of the block."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"{group}-writer"})
    producer.init_transactions(PATIENCE)
    producer.begin_transaction()
    consumer = joined(bootstrap, group, topic)
    made = [TopicPartition(topic, *each) for each in offsets.items()]
    producer.send_offsets_to_transaction(made, consumer.consumer_group_metadata(), PATIENCE)
    consumer.close()
    yield
    producer.commit_transaction(PATIENCE)
