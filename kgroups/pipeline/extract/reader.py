"""Reads ranges of the log as Arrow batches: a plain generator, with or without Spark.

Strategy: one consumer for all ranges of a lot, assigned by hand, so that no group is made and nothing is written into
the topic being read. Only committed records are delivered (KIP-98). A range is done when a record at or behind its
last offset has come, or the end of the log was met: its last offsets may be holes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from kgroups.config.librdkafka import librdkafka_options, make_client
from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable
from kgroups.model.placement import OFFSETS_TOPIC

from ..tables import RECORDS, arrow_schema
from .log import SILENT, refuse
from .ranges import Range

BATCH = 10_000
"""Records in an Arrow batch; a tenth of it is 40 % slower to decode, ten times as many are no faster."""

_POLL = 0.2


def read(
    settings: ClientSettings, ranges: Sequence[Range], *, topic: str = OFFSETS_TOPIC, batch: int = BATCH
) -> Iterator[pa.RecordBatch]:
    """Batches of :data:`kgroups.pipeline.tables.RECORDS`, in log order within each partition.

    :raises BrokerUnavailable: when nothing comes for ``settings.timeout`` seconds while records are left.
    :raises HistoryError: when the topic may not be read.
    """
    consumer = make_client(Consumer, _options(settings))
    try:
        yield from _Reading(consumer, settings, topic, ranges).batches(batch)
    finally:
        consumer.close()


def _options(settings: ClientSettings) -> dict[str, Any]:
    return librdkafka_options(settings) | {
        "group.id": "kgroups-history",  # asked for by librdkafka, used by nobody: partitions are assigned by hand
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",  # a start that retention or compaction took away: what is left is read
        "fetch.wait.max.ms": 10,  # else every partition's end costs half a second
        "fetch.message.max.bytes": 4 << 20,
        "queued.min.messages": 200_000,
        "check.crcs": False,
    }


class _Reading:
    def __init__(self, consumer: Consumer, settings: ClientSettings, topic: str, ranges: Sequence[Range]) -> None:
        self._consumer, self._settings, self._topic = consumer, settings, topic
        self._schema = arrow_schema(RECORDS)
        self._left = {piece.partition: piece for piece in _joined(ranges)}
        highest = max(self._left, default=-1) + 1
        self._starts = np.zeros(highest, np.int64)
        self._stops = np.zeros(highest, np.int64)
        for piece in self._left.values():
            self._starts[piece.partition], self._stops[piece.partition] = piece.start, piece.stop

    def batches(self, size: int) -> Iterator[pa.RecordBatch]:
        self._consumer.assign(
            [TopicPartition(self._topic, piece.partition, piece.start) for piece in self._left.values()]
        )
        heard = time.monotonic()
        while self._left:
            messages = self._consumer.consume(size, _POLL)
            if messages:
                if records := self._without_events(messages):
                    yield from self._batch(records)
                heard = time.monotonic()  # whoever takes the records may have taken longer than a broker may
            elif time.monotonic() - heard > self._settings.timeout:
                raise BrokerUnavailable(self._silence())

    def _without_events(self, messages: list[Message]) -> list[Message]:
        events = [message for message in messages if message.error() is not None]
        if not events:
            return messages
        for event in events:
            error = event.error()
            assert error is not None
            if error.code() == KafkaError._PARTITION_EOF:
                self._done(event.partition())
            elif error.code() not in SILENT:  # which it mends when the broker comes back; the timeout bounds it
                refuse(error, self._topic, self._settings)
        return [message for message in messages if message.error() is None]

    def _batch(self, messages: list[Message]) -> Iterator[pa.RecordBatch]:
        # One call a column: of all that is done with a record here, the calls cost most.
        partitions = np.array([message.partition() for message in messages], np.int32)
        offsets = np.array([message.offset() for message in messages], np.int64)
        times = np.array([message.timestamp()[1] for message in messages], np.int64)
        batch = pa.record_batch(
            [
                pa.array(partitions),
                pa.array(offsets),
                pa.array(times * 1000, mask=times < 0).cast(self._schema.field("log_time").type),
                pa.array([message.key() for message in messages], pa.binary()),
                pa.array([message.value() for message in messages], pa.binary()),
            ],
            schema=self._schema,
        )
        wanted = (offsets < self._stops[partitions]) & (offsets >= self._starts[partitions])
        for partition in np.unique(partitions[offsets >= self._stops[partitions] - 1]):
            self._done(int(partition))
        if wanted.all():
            yield batch
        elif wanted.any():
            yield batch.filter(pa.array(wanted))

    def _done(self, partition: int | None) -> None:
        if partition is None or partition not in self._left:
            return
        del self._left[partition]
        if self._left:  # its further records would be fetched for nothing
            self._consumer.incremental_unassign([TopicPartition(self._topic, partition)])

    def _silence(self) -> str:
        left = ", ".join(str(partition) for partition in sorted(self._left))
        seconds = self._settings.timeout
        return f"reading {self._topic}: nothing came for {seconds:g} s of partition {left}; is a broker down?"


def _joined(ranges: Sequence[Range]) -> list[Range]:
    """Pieces of one partition that touch, as one: a consumer reads a partition once."""
    joined: dict[int, Range] = {}
    for piece in sorted(ranges):
        before = joined.get(piece.partition)
        if before and before.stop != piece.start:
            raise ValueError(f"{before} and {piece} do not touch")
        joined[piece.partition] = before._replace(stop=piece.stop) if before else piece
    return list(joined.values())
