"""Topics whose records are of known ages, in every shape that a log can have; and a group for each position."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.topics import delete_records
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.quick_cleaner import quick_cleaner

MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
COUNT: Final = 200
"""Records in the topics that say nothing else, each a minute younger than the one before; all in one batch."""

_IN_ORDER: Final[dict[str, Any]] = {"enable.idempotence": False, "max.in.flight": 1}
"""One batch at a time: else what is sent again comes behind what was sent after it. Old formats know no idempotence."""

_SECONDS: Final = 60.0
"""For all that a broker does."""


class Aged(NamedTuple):
    """One group with a commit on one topic, and what its lag must be."""

    topic: str
    committed: int
    lag: int
    oldest: int | None
    """When the first unread record was written, in milliseconds since 1970: 0 if nothing is unread, ``None`` if
    unknown."""
    isolation: str = "read_uncommitted"

    @property
    def group(self) -> str:
        return f"aged-{self.topic}-{self.committed}"


class AgedTopics:
    """Topics that are created when opened, and are kept."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._bootstrap = sandbox.bootstrap
        self._common: dict[str, Any] = {"bootstrap.servers": sandbox.bootstrap}
        self._version = tuple(map(int, sandbox.version.name.split(".")))
        self._admin = AdminClient({"bootstrap.servers": self._bootstrap, "log_level": 3})
        self._began = int(time.time() * 1000) - 10 * HOUR
        self.groups: list[Aged] = []

    def make(self) -> None:
        with quick_cleaner(self._admin) if self._cleaner_is_quick else contextlib.nullcontext():
            self._compacted()
            self._codecs()
            self._old_formats()
            self._transactions()
            self._append_time()
            self._data_lost()
            self._large()
            self._hole()
        asyncio.run(self._commit())

    def _since(self, release: tuple[int, ...]) -> bool:
        return self._version >= release

    def _at(self, number: int) -> int:
        """When record ``number`` was written, by its own account."""
        return self._began + number * MINUTE

    def _topic(self, name: str, **config: str) -> str:
        settings = {key.replace("_", "."): value for key, value in config.items()}
        asked = self._admin.create_topics([NewTopic(name, 1, 1, config=settings)])
        asked[name].result(_SECONDS)
        return name

    def _produce(self, topic: str, count: int = COUNT, *, first: int = 0, size: int = 0, **settings: Any) -> None:
        options = {**self._common, **_IN_ORDER, "linger.ms": 60_000}  # for flush() to send all as one batch
        producer = Producer(options | {key.replace("_", "."): value for key, value in settings.items()})
        for number in range(first, first + count):
            value = f"record {number} ".encode() + bytes(size)
            producer.produce(topic, value, f"{number}", 0, timestamp=self._at(number))
        assert producer.flush(_SECONDS) == 0

    async def _commit(self) -> None:
        where = parse_bootstrap(self._bootstrap)
        cluster, _ = await Cluster.connect(ClientSettings(where, timeout=_SECONDS, broker_timeout=_SECONDS))
        async with cluster:
            route = await CoordinatorClient.to(cluster, [aged.group for aged in self.groups])
            for aged in self.groups:
                commit = OffsetCommit(aged.group, {aged.topic: {0: aged.committed}})
                assert await route.call(aged.group, commit) is None

    # The shapes.

    def _codecs(self) -> None:
        codecs = ["none", "gzip", "snappy", "lz4", *(["zstd"] if self._since((2, 1)) else [])]
        for codec in codecs:
            topic = self._topic(f"aged-{codec}")
            self._produce(topic, compression_type=codec)
            self.groups += [Aged(topic, at, COUNT - at, self._at(at)) for at in (0, 137, COUNT - 1)]
            self.groups.append(Aged(topic, COUNT, 0, 0))

    def _old_formats(self) -> None:
        if self._since((3, 0)):
            return  # brokers write one format only (KIP-724)
        for codec in ("none", "gzip", "snappy", "lz4"):
            topic = self._topic(f"aged-v1-{codec}", message_format_version="0.10.0")
            self._produce(topic, compression_type=codec)
            self.groups += [Aged(topic, at, COUNT - at, self._at(at)) for at in (0, 137)]
        topic = self._topic("aged-v0", message_format_version="0.9.0")
        self._produce(topic, compression_type="gzip")
        self.groups.append(Aged(topic, 137, COUNT - 137, None))

    def _transactions(self) -> None:
        """0-4 committed, 5 its marker, 6-10 aborted, 11 its marker, 12-16 committed, 17 its marker."""
        topic = self._topic("aged-transactions")
        producer = Producer({**self._common, "transactional.id": "aged-transactions"})
        producer.init_transactions(_SECONDS)
        for first, commit in ((0, True), (6, False), (12, True)):
            producer.begin_transaction()
            for number in range(first, first + 5):
                producer.produce(topic, b"record", timestamp=self._at(number))
            producer.flush(_SECONDS)
            producer.commit_transaction(_SECONDS) if commit else producer.abort_transaction(_SECONDS)
        self._await_end(topic, 18)  # the last marker comes after the answer
        uncommitted = {5: self._at(6), 8: self._at(8), 11: self._at(12), 14: self._at(14), 17: 0}
        self.groups += [Aged(topic, at, 18 - at, oldest) for at, oldest in uncommitted.items()]
        committed = {4: self._at(4), 6: self._at(12), 9: self._at(12)}
        self.groups += [Aged(topic, at, 18 - at, oldest, "read_committed") for at, oldest in committed.items()]

    def _append_time(self) -> None:
        topic = self._topic("aged-append-time", message_timestamp_type="LogAppendTime")
        before = int(time.time() * 1000)
        self._produce(topic)
        self.groups.append(Aged(topic, 137, COUNT - 137, before))

    def _data_lost(self) -> None:
        topic = self._topic("aged-deleted")
        self._produce(topic)
        delete_records(self._bootstrap, {topic: {0: 100}})
        self.groups.append(Aged(topic, 10, COUNT - 10, self._at(100)))

    def _large(self) -> None:
        """Batches that fit into no first portion, of 40 KB and of 900 KB."""
        for size in (40_000, 900_000):
            topic = self._topic(f"aged-large-{size}")
            self._produce(topic, 3, size=size)
            self.groups.append(Aged(topic, 1, 2, self._at(1)))

    def _compacted(self) -> None:
        """The same keys again and again: of 0 to 59 compaction leaves the last few."""
        self._hole_topic = self._topic(
            "aged-compacted", cleanup_policy="compact", segment_ms="100", min_cleanable_dirty_ratio="0.01"
        )
        producer = Producer({**self._common, **_IN_ORDER})
        for number in range(60):
            producer.produce(self._hole_topic, b"record", f"{number % 3}", 0, timestamp=self._at(number))
        assert producer.flush(_SECONDS) == 0

    def _hole(self) -> None:
        """In another segment, or nothing is compacted: its time is a minute after the others'."""
        self._produce(self._hole_topic, 1, first=60)
        if self._cleaner_is_quick:
            self._await_hole()
            self.groups.append(Aged(self._hole_topic, 20, 41, self._at(57)))
            self.groups.append(Aged(self._hole_topic, 59, 2, self._at(59)))

    def _await_hole(self) -> None:
        with self._watcher() as consumer:
            until = time.monotonic() + _SECONDS
            while True:
                consumer.assign([TopicPartition(self._hole_topic, 0, 20)])
                message = consumer.poll(2)
                if message and not message.error() and message.offset() == 57:
                    return
                assert time.monotonic() < until, f"nothing was compacted in {_SECONDS:g} s"
                time.sleep(0.2)

    def _await_end(self, topic: str, end: int) -> None:
        with self._watcher() as consumer:
            until = time.monotonic() + _SECONDS
            while consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=_SECONDS) != (0, end):
                assert time.monotonic() < until, f"{topic} does not end at {end}"
                time.sleep(0.05)

    @contextlib.contextmanager
    def _watcher(self) -> Iterator[Consumer]:
        consumer = Consumer({**self._common, "group.id": "aged-watcher", "enable.auto.commit": False})
        try:
            yield consumer
        finally:
            consumer.close()

    @property
    def _cleaner_is_quick(self) -> bool:
        return self._since((2, 3))  # brokers that take a change of one setting (KIP-339)
