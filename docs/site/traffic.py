"""Write records into a topic, and read them in a group, at rates that change: the pictures of dashboards show them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from confluent_kafka import Consumer, Producer

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox.topics import make_topics

TOPIC, GROUP = "shipments", "invoices"
_PARTITIONS = 4
_TICK = 0.2
_READ = 7
"""Records that a member reads in a tick: two members read more than is written; one member reads less."""
_AWAY = (380.0, 420.0)
"""Seconds after the start between which the second member has left."""


@contextmanager
def traffic(bootstrap: str) -> Iterator[None]:
    """Write and read until the end of the block."""
    make_topics(ClientSettings(parse_bootstrap(bootstrap)), {TOPIC: dict.fromkeys(range(_PARTITIONS), 0)})
    stop, start = Event(), time.monotonic()

    def second(elapsed: float) -> bool:
        return not _AWAY[0] <= elapsed < _AWAY[1]

    with ThreadPoolExecutor() as pool:
        threads = [
            pool.submit(_write, bootstrap, stop, start),
            pool.submit(_read, bootstrap, stop, start, lambda elapsed: True),
            pool.submit(_read, bootstrap, stop, start, second),
        ]
        try:
            yield
        finally:
            stop.set()
    for thread in threads:
        thread.result()


def _write(bootstrap: str, stop: Event, start: float) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
    number = 0
    while not stop.wait(_TICK):
        rate = 45 + 15 * math.sin((time.monotonic() - start) / 20)
        for _ in range(round(rate * _TICK)):
            producer.produce(TOPIC, f"shipment {number}".encode(), partition=number % _PARTITIONS)
            number += 1
        producer.poll(0)
    producer.flush(10)


def _read(bootstrap: str, stop: Event, start: float, is_member: Callable[[float], bool]) -> None:
    """Be a member of the group while ``is_member`` of the elapsed seconds is true."""
    settings: dict[str, str | int] = {
        "bootstrap.servers": bootstrap,
        "group.id": GROUP,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 1000,
    }
    consumer: Consumer | None = None
    while not stop.wait(_TICK):
        if not is_member(time.monotonic() - start):
            if consumer:
                consumer.close()
            consumer = None
            continue
        if not consumer:
            consumer = Consumer(settings)
            consumer.subscribe([TOPIC])
        consumer.consume(_READ, timeout=_TICK / 2)
    if consumer:
        consumer.close()
