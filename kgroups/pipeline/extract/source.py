"""``kgroups-offsets``: the log of ``__consumer_offsets`` as a Spark data source, batch and stream, without a jar.

The driver asks how far the log goes and cuts it into lots; each task reads its lot by :func:`.reader.read`, decodes it
and hands over Arrow batches. A stream's offsets, which Spark keeps in its checkpoint, are the next offset of each
partition. The end of a batch is the last stable offset (KIP-98): behind it a transaction is open, and to wait for what
may never be committed would be to wait for ever.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError

from ..decode import as_table
from ..tables import DECODED, arrow_schema, ddl
from .log import OffsetsLog
from .options import EARLIEST, OffsetsOptions, Position, parse_options
from .ranges import Ends, Range, between, limited, pack
from .reader import read

NAME = "kgroups-offsets"

RANGE = "Range"
"""``record_name`` of the row that says which range was read; its ``body`` is JSON, see :func:`_range_rows`."""


class OffsetsSource(DataSource):
    """See :mod:`kgroups.pipeline.extract.options` for the options."""

    carried: ClientSettings | None = None
    """See :func:`kgroups.pipeline.connection.carrying`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._parsed = parse_options(options, self.carried)

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return ddl(self._parsed.table)

    def reader(self, schema: StructType) -> OffsetsReader:
        return OffsetsReader(self._parsed)

    def streamReader(self, schema: StructType) -> OffsetsStreamReader:
        return OffsetsStreamReader(self._parsed)


class Lot(InputPartition):
    """What one task reads, and where the ends of its partitions were when it was cut."""

    def __init__(self, ranges: tuple[Range, ...], ends: Mapping[int, Ends]) -> None:
        super().__init__(None)
        self.ranges = ranges
        self.ends = {piece.partition: ends[piece.partition] for piece in ranges}

    def __repr__(self) -> str:
        return f"Lot({', '.join(f'{p.partition}:{p.start}-{p.stop}' for p in self.ranges)})"


class _Lots:
    """What batch and stream share: how lots are cut and read."""

    def __init__(self, options: OffsetsOptions) -> None:
        self._options = options

    def _log(self) -> OffsetsLog:
        return OffsetsLog(self._options.settings, self._options.topic)

    def _cut(self, starts: Mapping[int, int], stops: Mapping[int, int], ends: Mapping[int, Ends]) -> list[Lot]:
        return [Lot(ranges, ends) for ranges in pack(between(starts, stops), self._options.lots)]

    def read(self, lot: Any) -> Iterator[pa.RecordBatch]:
        """Arrow batches of the table that was asked for."""
        options, counted = self._options, _Counted()
        records = read(options.settings, lot.ranges, topic=options.topic)
        yield from as_table(options.table, counted.passing(records))
        if options.ranges and options.table == DECODED:
            yield _range_rows(lot, counted)


class OffsetsReader(_Lots, DataSourceReader):
    """A batch: from one position to another."""

    def partitions(self) -> Sequence[Lot]:
        log = self._log()
        ends = log.ends()
        starts = _resolve(log, ends, self._options.start)
        stops = _resolve(log, ends, self._options.stop)
        # What was never there or is not stable yet cannot be waited for.
        stops = {partition: min(stop, ends[partition].stable) for partition, stop in stops.items()}
        # Of no partitions Spark makes one of its own, which is no lot.
        return self._cut(starts, stops, ends) or [Lot((), ends)]


class OffsetsStreamReader(_Lots, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream: from where the checkpoint is to what is stable now, at most maxRecordsPerTrigger offsets a step."""

    def __init__(self, options: OffsetsOptions) -> None:
        super().__init__(options)
        self._target: dict[str, int] | None = None

    def initialOffset(self) -> dict[str, int]:
        log = self._log()
        return _written(_resolve(log, log.ends(), self._options.start))

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.most) if self._options.most else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._stable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        target = self._stable() if self._target is None else self._target
        starts, stops = _read(start), _read(target)
        for partition, position in starts.items():
            self._check(partition, position, stops.get(partition))
        if isinstance(limit, ReadMaxRows):
            stops = limited(starts, stops, limit.max_rows)
        return _written(stops)

    def reportLatestOffset(self) -> dict[str, int]:
        return self._stable()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Lot]:
        starts, stops = _read(start), _read(end)
        if starts == stops:
            return []
        ends = self._log().ends()
        for partition, stop in stops.items():
            self._check(partition, stop, ends[partition].stable if partition in ends else None)
        return self._cut(starts, stops, ends)

    def _check(self, partition: int, position: int, stable: int | None) -> None:
        if stable is None or stable < position:
            raise HistoryError(
                f"{self._options.topic}-{partition} ends at {stable or 0} now, but was read up to {position} before: "
                "the topic was recreated or its log was truncated; collect into a new store"
            )

    def _stable(self) -> dict[str, int]:
        return _written({partition: ends.stable for partition, ends in self._log().ends().items()})


class _Counted:
    """Records of each partition, with the log times of the first and the last."""

    def __init__(self) -> None:
        self.records: Counter[int] = Counter()
        self.times: dict[int, tuple[int, int]] = {}

    def passing(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches, counted."""
        for batch in batches:
            self._add(batch)
            yield batch

    def _add(self, batch: pa.RecordBatch) -> None:
        partitions = np.asarray(batch.column("log_partition"))
        times = np.asarray(batch.column("log_time").cast(pa.int64()).fill_null(0))
        for partition in np.unique(partitions).tolist():
            own = times[partitions == partition]
            first, _ = self.times.get(partition, (int(own[0]), 0))
            self.times[partition] = (first, int(own[-1]))
            self.records[partition] += len(own)


def _range_rows(lot: Lot, counted: _Counted) -> pa.RecordBatch:
    rows = []
    for piece in lot.ranges:
        first, last = counted.times.get(piece.partition, (None, None))
        ends = lot.ends[piece.partition]
        body = {
            "from_offset": piece.start,
            "to_offset": piece.stop,
            "records": counted.records[piece.partition],
            "first_time": first,
            "last_time": last,
            "last_stable_offset": ends.stable,
            "high_watermark": ends.end,
        }
        rows.append(
            {
                "log_partition": piece.partition,
                "log_offset": piece.stop,
                "record_name": RANGE,
                "tombstone": False,
                "body": json.dumps(body),
            }
        )
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(DECODED))


def _resolve(log: OffsetsLog, ends: Mapping[int, Ends], position: Position) -> dict[int, int]:
    if isinstance(position, int):
        return log.at(position, ends)
    if isinstance(position, str):
        return {partition: end.start if position == EARLIEST else end.stable for partition, end in ends.items()}
    return {partition: position.get(partition, end.start) for partition, end in ends.items()}


def _written(offsets: Mapping[int, int]) -> dict[str, int]:
    # Spark compares offsets as JSON text: the order must not change.
    return {str(partition): offsets[partition] for partition in sorted(offsets)}


def _read(offsets: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): offset for partition, offset in offsets.items()}
