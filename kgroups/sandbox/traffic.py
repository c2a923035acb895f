"""Write records into a topic, and read them in a group of two members, of which one can leave and come back."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Final

from confluent_kafka import Consumer, Producer

from kgroups.config.settings import ClientSettings, parse_bootstrap

from .topics import make_topics

TOPIC: Final = "shipments"
GROUP: Final = "invoices"
_PARTITIONS: Final = 4
_TICK: Final = 0.2
_READ: Final = 8
"""Records that a member reads in a tick: two members read more than is written; one member reads less."""


@contextmanager
def traffic(bootstrap: str) -> Iterator[Event]:
    """Write and read until the end of the block; while the event is set, the second member is away."""
    make_topics(ClientSettings(parse_bootstrap(bootstrap)), {TOPIC: dict.fromkeys(range(_PARTITIONS), 0)})
    stop, away = Event(), Event()
    with ThreadPoolExecutor() as pool:
        threads = [
            pool.submit(_write, bootstrap, stop),
            pool.submit(_read, bootstrap, f"{GROUP}-0", stop, Event()),
            pool.submit(_read, bootstrap, f"{GROUP}-1", stop, away),
        ]
        try:
            yield away
        finally:
            stop.set()
    for thread in threads:
        thread.result()


def _write(bootstrap: str, stop: Event) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20})
    number, start = 0, time.monotonic()
    while not stop.wait(_TICK):
        rate = 48 + 6 * math.sin((time.monotonic() - start) / 20)
        for _ in range(round(rate * _TICK)):
            producer.produce(TOPIC, f"shipment {number}".encode(), partition=number % _PARTITIONS)
            number += 1
        producer.poll(0)
    producer.flush(10)


def _read(bootstrap: str, name: str, stop: Event, away: Event) -> None:
    settings: dict[str, str | int] = {
        "bootstrap.servers": bootstrap,
        "group.id": GROUP,
        "client.id": name,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 1000,
        "heartbeat.interval.ms": 1500,
        "log_level": 3,
    }
    consumer: Consumer | None = None
    while not stop.wait(_TICK):
        if away.is_set():
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
