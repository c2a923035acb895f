"""A consumer that reads N records, commits each, and then repeats its last commit.

``python -m tests.integration.committing_consumer BOOTSTRAP GROUP TOPIC RECORDS``.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from confluent_kafka import Consumer, KafkaException, TopicPartition

SESSION = 20.0
"""Seconds until the brokers take it for dead: enough to look at it while it is stopped, and still a member."""
_PAUSE = 0.1


def main(bootstrap: str, group: str, topic: str, records: int) -> None:
    """For ever."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": int(SESSION * 1000),
    }
    consumer = Consumer(settings)
    consumer.subscribe([topic])
    last = 0
    while True:
        message = consumer.poll(_PAUSE)
        if message is not None and not message.error():
            last = (message.offset() or 0) + 1
            if last >= records:
                consumer.pause(consumer.assignment())
        if last:
            with suppress(KafkaException):  # a broker that was held up: the next one goes through
                consumer.commit(offsets=[TopicPartition(topic, 0, last)], asynchronous=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
