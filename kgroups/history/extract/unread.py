"""The first record that an open transaction hides, in each partition of the log: its time.

It is read without regard to transactions (``read_uncommitted``): its time is known, whether it is committed or not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, TopicPartition

from kgroups.config.librdkafka import librdkafka_options, make_client
from kgroups.config.settings import ClientSettings
from kgroups.model.placement import OFFSETS_TOPIC

from .ranges import Ends

_POLL = 0.2
"""Maximum seconds of one call of the consumer."""


def first_unread_times(
    settings: ClientSettings, ends: Mapping[int, Ends], *, topic: str = OFFSETS_TOPIC
) -> dict[int, int]:
    """Return the log time, in milliseconds since 1970, of the first record at or after each last stable offset.

    Partitions without such a record, or without a response within ``settings.timeout``, are omitted.
    """
    waiting = {partition: each.stable for partition, each in ends.items() if each.end > each.stable}
    if not waiting:
        return {}
    consumer = make_client(
        Consumer,
        librdkafka_options(settings)
        | {
            "group.id": "kgroups-history",  # required by librdkafka, unused: partitions are assigned manually
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_uncommitted",
            "fetch.wait.max.ms": 10,
        },
    )
    found: dict[int, int] = {}
    until = time.monotonic() + settings.timeout
    try:
        consumer.assign([TopicPartition(topic, partition, offset) for partition, offset in waiting.items()])
        while waiting and time.monotonic() < until:
            for message in consumer.consume(100, _POLL):
                partition, error = message.partition(), message.error()
                if partition is None or partition not in waiting:
                    continue
                if error is None:
                    found[partition] = message.timestamp()[1]
                if error is None or error.code() == KafkaError._PARTITION_EOF:
                    del waiting[partition]
                    if waiting:
                        consumer.incremental_unassign([TopicPartition(topic, partition)])
    finally:
        consumer.close()
    return found
