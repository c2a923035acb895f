"""A producer and consumers that run until they are stopped."""

from __future__ import annotations

import threading
from collections.abc import Collection
from contextlib import suppress
from types import TracebackType

from confluent_kafka import Consumer, KafkaException, Producer

PARTITIONS = 3


class _Running:
    """A thread that repeats :meth:`step`."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(60)
        self.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            self.step()

    def step(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class Producing(_Running):
    """Some ten records a second for each partition."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        super().__init__()
        self._topic = topic
        self._producer = Producer({"bootstrap.servers": bootstrap, "message.timeout.ms": 2000})

    def step(self) -> None:
        for partition in range(PARTITIONS):
            with suppress(BufferError, KafkaException):
                self._producer.produce(self._topic, b"x", partition=partition)
        self._producer.poll(0)
        self._ended.wait(0.1)

    def close(self) -> None:
        self._producer.flush(5)


class Consuming(_Running):
    """The only member of a group, which commits what it reads.

    :param stuck: partitions that are assigned to it, and not read.
    """

    def __init__(self, bootstrap: str, group: str, topic: str, stuck: Collection[int] = ()) -> None:
        super().__init__()
        self._stuck = stuck
        settings = {"auto.offset.reset": "earliest", "auto.commit.interval.ms": 500, "session.timeout.ms": 20_000}
        self._consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, **settings})
        self._consumer.subscribe([topic])

    def step(self) -> None:
        with suppress(KafkaException):
            self._consumer.poll(0.1)
            self._consumer.pause([each for each in self._consumer.assignment() if each.partition in self._stuck])

    def close(self) -> None:
        self._consumer.close()
