"""The records that were read of each range of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from .holes import Compacted, FindLast, HoleCounter
from .ranges import Range


class RangeCounter:
    """Counts the records of each partition, with the log times of the first and the last."""

    def __init__(self, ranges: Sequence[Range] = ()) -> None:
        self._ranges = list(ranges)
        self._holes = HoleCounter(ranges)
        self.records: Counter[int] = Counter()
        self.times: dict[int, tuple[int, int]] = {}

    def begin(self, piece: Range) -> None:
        """Add a range."""
        self._ranges.append(piece)
        self._holes.begin(piece)

    def count(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches unchanged, and count their records."""
        for batch in batches:
            self.add(batch)
            yield batch

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the records of a batch."""
        self._holes.add(batch)
        partitions = np.asarray(batch.column("log_partition"))
        times = np.asarray(batch.column("log_time").cast(pa.int64()).fill_null(0))
        for partition in np.unique(partitions).tolist():
            of_partition = times[partitions == partition]
            first, _ = self.times.get(partition, (int(of_partition[0]), 0))
            self.times[partition] = (first, int(of_partition[-1]))
            self.records[partition] += len(of_partition)

    def facts(self, find_last: FindLast) -> list[dict[str, Any]]:
        """Return one row for each range: columns of ``coverage``, times in microseconds since 1970.

        :param find_last: finds the last hole that compaction left.
        """
        compacted = self._holes.compacted(find_last)
        return [self._fact(piece, compacted[piece.partition]) for piece in self._ranges]

    def _fact(self, piece: Range, compacted: Compacted) -> dict[str, Any]:
        first, last = self.times.get(piece.partition, (None, None))
        return {
            "log_partition": piece.partition,
            "from_offset": piece.start,
            "to_offset": piece.stop,
            "records": self.records[piece.partition],
            "first_time": first,
            "last_time": last,
            **compacted._asdict(),
        }
