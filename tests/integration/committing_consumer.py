"""A consumer that reads N records, commits each, and then repeats its last commit.

``python -m tests.integration.committing_consumer BOOTSTRAP GROUP TOPIC RECORDS [SESSION]``.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from confluent_kafka import Consumer, KafkaException, TopicPartition

SESSION = 20.0
"""Seconds until the brokers take it for dead: enough to look at it while it is stopped, and still a member."""
_PAUSE = 0.1


@contextmanager
def committing_consumer(
    bootstrap: str, group: str, topic: str, records: int, session: float = SESSION
) -> Iterator[subprocess.Popen[bytes]]:
    """Run one in a process of its own, which can be stopped."""
    words = (bootstrap, group, topic, str(records), str(session))
    process = subprocess.Popen([sys.executable, "-m", __name__, *words])
    try:
        yield process
    finally:
        process.kill()
        assert process.wait(30) == -signal.SIGKILL, "the consumer ended on its own"


def main(bootstrap: str, group: str, topic: str, records: int, session: float = SESSION) -> None:
    """For ever."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "session.timeout.ms": int(session * 1000),
        "max.poll.interval.ms": max(300_000, int(session * 1000)),
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
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), *map(float, sys.argv[5:]))
