"""``kgroups-offsets``: the log of ``__consumer_offsets`` as a Spark data source, batch and stream, without a jar.

The driver requests the ends of the log and divides it into splits; each task reads its split by :func:`.reader.read`,
decodes it, and returns Arrow batches. The offsets of a stream, which Spark stores in its checkpoint, are the next
offset of each partition. A batch ends at the last stable offset (KIP-98): after it a transaction is open, which may
never be committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from kgroups.errors import UsageError
from kgroups.model.placement import OFFSETS_TOPIC, partition_of

from ..decode import as_table
from ..live.offsets_log import OffsetsLog, open_log
from ..options import Options
from ..schema import conform
from ..source import TableSource
from .options import BATCH_ONLY, EARLIEST, OPTIONS, STREAM_ONLY, OffsetsOptions, Position, parse_options
from .ranges import Ends, Range, advance, between, check_position, divide, pack
from .reader import read

NAME = "kgroups-offsets"

T = TypeVar("T")


class OffsetsSource(TableSource[OffsetsOptions]):
    """The data source. Its options are described in :mod:`kgroups.history.extract.options`."""

    known = OPTIONS

    @classmethod
    def name(cls) -> str:
        return NAME

    def parse(self, options: Options) -> OffsetsOptions:
        return parse_options(options, self.embedded)

    def reader(self, schema: StructType) -> OffsetsReader:
        return OffsetsReader(*self.parsed(schema, STREAM_ONLY), self.cores)

    def streamReader(self, schema: StructType) -> OffsetsStreamReader:
        return OffsetsStreamReader(*self.parsed(schema, BATCH_ONLY), self.cores)


class LogSplit(InputPartition):
    """The ranges that one task reads."""

    def __init__(self, ranges: tuple[Range, ...]) -> None:
        super().__init__(None)
        self.ranges = ranges

    def __repr__(self) -> str:
        return f"LogSplit({', '.join(f'{p.partition}:{p.start}-{p.stop}' for p in self.ranges)})"


class _SplitReader:
    """Planning and reading of splits, common to batch and stream.

    Filters are not pushed down: see :class:`kgroups.history.live.source.LiveReader`.
    """

    def __init__(self, options: OffsetsOptions, schema: pa.Schema, cores: int | None) -> None:
        self._options = options
        self._schema = schema
        self._cores = cores or os.cpu_count() or 1

    def _log(self) -> AbstractContextManager[OffsetsLog]:
        return open_log(self._options.settings, self._options.topic)

    def _split(self, starts: Mapping[int, int], stops: Mapping[int, int]) -> list[LogSplit]:
        ranges = between(starts, stops)
        splits = self._options.splits
        return [LogSplit(part) for part in (pack(ranges, splits) if splits else divide(ranges, self._cores))]

    def _selected(self, partitions: Mapping[int, T]) -> dict[int, T]:
        """Return the items of the partitions that can have records of the groups in the options.

        A copy of the topic may have other partitions than the original; it is read completely.
        """
        groups = self._options.groups
        if groups is None or self._options.topic != OFFSETS_TOPIC:
            return dict(partitions)
        return {each: partitions[each] for each in {partition_of(group, len(partitions)) for group in groups}}

    def read(self, split: Any) -> Iterator[pa.RecordBatch]:
        """Yield Arrow batches of the table in the options."""
        options = self._options
        records = read(options.settings, split.ranges, topic=options.topic)
        yield from conform(NAME, as_table(options.table, records, options.groups), self._schema)


class OffsetsReader(_SplitReader, DataSourceReader):
    """A batch: from one position to another."""

    def partitions(self) -> Sequence[LogSplit]:
        with self._log() as log:
            ends = log.ends()
            starts = _resolve(log, ends, self._options.start)
            stops = self._selected(_resolve(log, ends, self._options.stop))
        # Do not wait for records after the last stable offset: they may never be committed, or never exist.
        stops = {partition: min(stop, ends[partition].stable) for partition, stop in stops.items()}
        # For an empty list, Spark makes a partition of its own, which is not a LogSplit.
        return self._split(starts, stops) or [LogSplit(())]


class OffsetsStreamReader(_SplitReader, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream: from the checkpoint to the last stable offset, at most maxRecordsPerTrigger offsets per batch."""

    def __init__(self, options: OffsetsOptions, schema: pa.Schema, cores: int | None) -> None:
        super().__init__(options, schema, cores)
        self._target: dict[str, int] | None = None

    def initialOffset(self) -> dict[str, int]:
        with self._log() as log:
            return _encode_offsets(_resolve(log, log.ends(), self._options.start))

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.max_records) if self._options.max_records else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._stable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        target = self._stable() if self._target is None else self._target
        starts, stops = _decode_offsets(start), _decode_offsets(target)
        for partition, position in starts.items():
            check_position(self._options.topic, partition, position, stops.get(partition))
        stops = self._selected(stops)
        if isinstance(limit, ReadMaxRows):
            stops = advance(starts, stops, limit.max_rows)
        return _encode_offsets(starts | stops)  # other partitions stay where they are

    def reportLatestOffset(self) -> dict[str, int]:
        return _encode_offsets(self._selected(_decode_offsets(self._stable())))

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[LogSplit]:
        starts, stops = _decode_offsets(start), _decode_offsets(end)
        if starts == stops:
            return []
        with self._log() as log:
            ends = log.ends()
        for partition, stop in stops.items():
            check_position(self._options.topic, partition, stop, ends[partition].stable if partition in ends else None)
        return self._split(starts, stops)

    def _stable(self) -> dict[str, int]:
        with self._log() as log:
            return _encode_offsets({partition: ends.stable for partition, ends in log.ends().items()})


def _resolve(log: OffsetsLog, ends: Mapping[int, Ends], position: Position) -> dict[int, int]:
    if isinstance(position, int):
        return log.at(position, ends)
    if isinstance(position, str):
        return {partition: end.start if position == EARLIEST else end.stable for partition, end in ends.items()}
    if unknown := sorted(position.keys() - ends.keys()):
        raise UsageError(
            f"{NAME}: option startingOffsets or endingOffsets: partition {unknown[0]} does not exist; the topic has "
            f"partitions 0 to {max(ends)}"
        )
    return {partition: position.get(partition, end.start) for partition, end in ends.items()}


def _encode_offsets(offsets: Mapping[int, int]) -> dict[str, int]:
    # Sorted: Spark compares offsets as JSON text.
    return {str(partition): offsets[partition] for partition in sorted(offsets)}


def _decode_offsets(offsets: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): offset for partition, offset in offsets.items()}


def cores_of(spark: SparkSession) -> int | None:
    """Return the cores of the executors so far; ``None`` if unknown, as with Spark Connect."""
    try:
        return spark.sparkContext.defaultParallelism
    except PySparkException:
        return None
