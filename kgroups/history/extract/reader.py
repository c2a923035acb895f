"""Read ranges of the log as Arrow batches: a plain generator, with or without Spark.

Strategy: one consumer for all ranges of a split, with manual assignment, so no group is created and nothing is written
to the topic being read. Only committed records are delivered (KIP-98). A range is complete at the first record at or
after its last offset, or at the end of the log, because its last offsets may have no records.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from kgroups.config.librdkafka import librdkafka_options, make_client
from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable
from kgroups.model.placement import OFFSETS_TOPIC

from ..arrow import arrow_schema
from ..tables import RECORDS
from .errors import raise_error
from .ranges import Range

BATCH = 10_000
"""Records in an Arrow batch: a tenth of it is 40 % slower to decode, ten times as many are not faster."""

UNREACHABLE = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._RESOLVE,
    }
)
"""librdkafka's errors if no broker responds. It reconnects, and the timeout bounds that."""

_POLL = 0.2
"""Maximum seconds of one call of the consumer."""

_LONGEST_POLL = 1.0
"""What counts of a call without a response: if it took longer, the process or the machine was suspended."""


class LogReader:
    """A consumer that opens at the first read, and is used for all further ones, one after the other."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._consumer: Consumer | None = None

    def read(
        self, ranges: Sequence[Range], *, topic: str = OFFSETS_TOPIC, batch: int = BATCH
    ) -> Iterator[pa.RecordBatch]:
        """Yield batches of :data:`kgroups.history.tables.RECORDS`, in log order within each partition.

        :param batch: maximum number of records in a batch.
        :raises BrokerUnavailable: if no records arrive for ``settings.timeout`` seconds before the ranges are complete.
        :raises HistoryError: if the principal is not authorized to read the topic.
        """
        if self._consumer is None:
            self._consumer = make_client(Consumer, _options(self._settings))
        consumer, complete = self._consumer, False
        try:
            yield from _RangeReader(consumer, self._settings, topic, ranges).batches(batch)
            consumer.unassign()
            complete = True
        finally:
            if not complete:  # what was requested may still arrive
                self.close()

    def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()


def read(
    settings: ClientSettings, ranges: Sequence[Range], *, topic: str = OFFSETS_TOPIC, batch: int = BATCH
) -> Iterator[pa.RecordBatch]:
    """Do what :meth:`LogReader.read` does, with a consumer of its own."""
    reader = LogReader(settings)
    try:
        yield from reader.read(ranges, topic=topic, batch=batch)
    finally:
        reader.close()


def _options(settings: ClientSettings) -> dict[str, Any]:
    return librdkafka_options(settings) | {
        "group.id": "kgroups-history",  # required by librdkafka, unused: partitions are assigned manually
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",  # if retention deleted the start offset: read the remaining records
        "fetch.wait.max.ms": 10,  # otherwise the end of every partition takes half a second
        "fetch.message.max.bytes": 4 << 20,
        "queued.min.messages": 200_000,
        "check.crcs": False,
    }


class _RangeReader:
    """One pass of a consumer over ranges."""

    def __init__(self, consumer: Consumer, settings: ClientSettings, topic: str, ranges: Sequence[Range]) -> None:
        self._consumer, self._settings, self._topic = consumer, settings, topic
        self._schema = arrow_schema(RECORDS)
        self._remaining = {piece.partition: piece for piece in _merge_adjacent(ranges)}
        highest = max(self._remaining, default=-1) + 1
        self._starts = np.zeros(highest, np.int64)
        self._stops = np.zeros(highest, np.int64)
        for piece in self._remaining.values():
            self._starts[piece.partition], self._stops[piece.partition] = piece.start, piece.stop

    def batches(self, size: int) -> Iterator[pa.RecordBatch]:
        self._consumer.assign(
            [TopicPartition(self._topic, piece.partition, piece.start) for piece in self._remaining.values()]
        )
        silent = 0.0
        while self._remaining:
            began = time.monotonic()
            with _paused_collection():
                answered, batch = self._next(size)
            if answered:
                if batch is not None:
                    yield batch
                silent = 0.0
                continue
            silent += min(time.monotonic() - began, _LONGEST_POLL)
            if silent > self._settings.timeout:
                raise BrokerUnavailable(self._timeout_message())

    def _next(self, size: int) -> tuple[bool, pa.RecordBatch | None]:
        """Return whether anything arrived, and the records of it; their messages are released."""
        messages = self._consumer.consume(size, _POLL)
        records = self._handle_events(messages)
        return bool(messages), self._batch(records) if records else None

    def _handle_events(self, messages: list[Message]) -> list[Message]:
        """Handle the events among the messages, and return the records."""
        events = [message for message in messages if message.error() is not None]
        if not events:
            return messages
        for event in events:
            error = event.error()
            assert error is not None
            if error.code() == KafkaError._PARTITION_EOF:
                self._complete(event.partition())
            elif error.code() not in UNREACHABLE:
                raise_error(error, self._topic, self._settings)
        return [message for message in messages if message.error() is None]

    def _batch(self, messages: list[Message]) -> pa.RecordBatch | None:
        # One comprehension per column: calls are the largest cost per record.
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
        in_range = (offsets < self._stops[partitions]) & (offsets >= self._starts[partitions])
        for partition in np.unique(partitions[offsets >= self._stops[partitions] - 1]):
            self._complete(int(partition))
        if in_range.all():
            return batch
        return batch.filter(pa.array(in_range)) if in_range.any() else None

    def _complete(self, partition: int | None) -> None:
        if partition is None or partition not in self._remaining:
            return
        del self._remaining[partition]
        if self._remaining:  # do not fetch its further records
            self._consumer.incremental_unassign([TopicPartition(self._topic, partition)])

    def _timeout_message(self) -> str:
        left = ", ".join(str(partition) for partition in sorted(self._remaining))
        seconds = self._settings.timeout
        return f"reading {self._topic}: nothing came for {seconds:g} s of partition {left}; is a broker down?"


@contextmanager
def _paused_collection() -> Iterator[None]:
    """Pause Python's garbage collector: it would scan all messages of a batch again and again, and none is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _merge_adjacent(ranges: Sequence[Range]) -> list[Range]:
    """Merge adjacent ranges of a partition: a consumer reads a partition once.

    :raises ValueError: if ranges of one partition are not adjacent.
    """
    merged: dict[int, Range] = {}
    for piece in sorted(ranges):
        before = merged.get(piece.partition)
        if before and before.stop != piece.start:
            raise ValueError(f"{before} and {piece} do not touch")
        merged[piece.partition] = before._replace(stop=piece.stop) if before else piece
    return list(merged.values())
