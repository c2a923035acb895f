"""All records of an internal topic, as a plain consumer reads them, including aborted transactions."""

from __future__ import annotations

from typing import NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

from kgroups.config.settings import ClientSettings
from kgroups.history.extract.ranges import Ends
from kgroups.history.live.offsets_log import open_log

TOPIC = "__consumer_offsets"


class Logged(NamedTuple):
    partition: int
    offset: int
    time: int
    """Milliseconds since 1970."""
    key: bytes
    value: bytes | None


def read_log(bootstrap: str, topic: str = TOPIC) -> list[Logged]:
    """What is there now; of each partition in the order of the log."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",  # none is made: nothing is subscribed, nothing committed
            "enable.auto.commit": False,
            "isolation.level": "read_uncommitted",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
            "log_level": 3,
        }
    )
    try:
        partitions = consumer.list_topics(topic, 30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
        found, ended = [], set[int]()
        while len(ended) < len(partitions):
            for message in consumer.consume(10_000, 0.1):
                partition, error = message.partition(), message.error()
                if error is None:
                    key = message.key()
                    assert isinstance(key, bytes) and partition is not None
                    found.append(Logged(partition, message.offset() or 0, message.timestamp()[1], key, message.value()))
                else:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    ended.add(partition)
        return sorted(found, key=lambda each: each[:2])
    finally:
        consumer.close()


def log_ends(settings: ClientSettings, topic: str = TOPIC) -> dict[int, Ends]:
    with open_log(settings, topic) as log:
        return log.ends()
