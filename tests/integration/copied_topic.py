"""A topic on one cluster, and on another one its copy, with other offsets."""

from __future__ import annotations

from confluent_kafka import Consumer, Producer, TopicPartition

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox.topics import make_topics

TOPIC = GROUP = "orders"
EARLIER = 17
"""The records of each partition of the copy before those that are copied."""
BEGAN = 1_760_000_000_000
"""The time of the first record, milliseconds since 1970."""
ENDS = (220, 333)
COMMITTED = (100, 333)


def make_copied_topic(source: str, target: str) -> None:
    """Create the topic and its copy, and commit the offsets of a group on the source."""
    empty = {TOPIC: dict.fromkeys(range(len(ENDS)), 0)}
    make_topics(ClientSettings(parse_bootstrap(source)), empty)
    make_topics(ClientSettings(parse_bootstrap(target)), {TOPIC: dict.fromkeys(empty[TOPIC], EARLIER)})
    for bootstrap in (source, target):
        producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
        for partition, end in enumerate(ENDS):
            for number in range(end):
                text = f"order {number}".encode()
                producer.produce(TOPIC, text, text, partition, timestamp=BEGAN + 1000 * number)
        assert producer.flush(60) == 0
    consumer = Consumer({"bootstrap.servers": source, "group.id": GROUP})
    offsets = [TopicPartition(TOPIC, partition, offset) for partition, offset in enumerate(COMMITTED)]
    consumer.commit(offsets=offsets, asynchronous=False)
    consumer.close()
