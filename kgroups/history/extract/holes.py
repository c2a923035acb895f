"""Offsets without a record, in the ranges that were read: which of them compaction left.

Transaction markers and the records of aborted transactions have offsets too, but are not delivered; nothing is missing
there. What compaction deleted is missing, and the log start offset does not show it.

Strategy: the cleaner leaves the last record of each key, in all of the log up to some offset. So if a key occurs twice,
nothing from the second occurrence on was compacted: no hole after it needs a closer look. In most logs this is after a
few records. Of the holes before it, the last that compaction left is found in the headers of record batches, see
:mod:`kgroups.history.live.compaction`; history is complete from the record after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .ranges import Range

MAX_KEYS = 200_000
"""Maximum number of keys that are remembered of a partition; without a repeated one, all holes are candidates."""


class Hole(NamedTuple):
    """Offsets from ``start`` to ``stop`` without a record; ``until`` is the time of the next record, if any."""

    start: int
    stop: int
    until: int | None


class Compacted(NamedTuple):
    """The effect of compaction on a range, as columns of coverage; times are in microseconds since 1970."""

    compacted: int
    compacted_to: int | None
    whole_since: int | None


FindLast = Callable[[Mapping[int, Sequence[tuple[int, int]]]], Mapping[int, int | None]]
"""Partition -> holes  ->  partition -> index of the last hole with a compacted offset, ``None`` without one."""


class HoleCounter:
    """Finds the holes in the ranges of a split, one for each partition."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._partitions = {piece.partition: _Partition(piece) for piece in ranges}

    def begin(self, piece: Range) -> None:
        """Add a range."""
        self._partitions[piece.partition] = _Partition(piece)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add records, which follow those added before in each partition."""
        partitions = np.asarray(batch.column("log_partition"))
        offsets = np.asarray(batch.column("log_offset"))
        times = np.asarray(batch.column("log_time").cast(pa.int64()).fill_null(0))
        for number in np.unique(partitions).tolist():
            if partition := self._partitions.get(number):
                chosen = partitions == number
                partition.add(offsets[chosen], times[chosen], batch.column("key").filter(pa.array(chosen)))

    def compacted(self, find_last: FindLast) -> dict[int, Compacted]:
        """Return what compaction left, by partition.

        :param find_last: called only if there are holes that compaction may have left.
        """
        holes = {number: partition.all_holes() for number, partition in self._partitions.items()}
        asked = {number: [(hole.start, hole.stop) for hole in each] for number, each in holes.items() if each}
        last = find_last(asked) if asked else {}
        return {number: _compacted(each, last.get(number)) for number, each in holes.items()}


def _compacted(holes: Sequence[Hole], last: int | None) -> Compacted:
    if last is None:
        return Compacted(0, None, None)
    offsets = sum(hole.stop - hole.start for hole in holes[: last + 1])
    return Compacted(offsets, holes[last].stop, holes[last].until)


class _Partition:
    def __init__(self, piece: Range) -> None:
        self._next, self._stop = piece.start, piece.stop
        self._holes: list[Hole] = []
        self._keys: set[int] = set()
        self._done = False
        """Whether a key occurred twice."""

    def add(self, offsets: npt.NDArray[Any], times: npt.NDArray[Any], keys: pa.Array) -> None:
        if self._done:
            return
        expected = np.concatenate(([self._next], offsets[:-1] + 1))
        repeated = self._first_repeated(keys)
        for at in np.flatnonzero(offsets > expected).tolist():
            if repeated is None or at <= repeated:
                self._holes.append(Hole(int(expected[at]), int(offsets[at]), int(times[at])))
        self._next = int(offsets[-1]) + 1
        self._done = repeated is not None

    def _first_repeated(self, keys: pa.Array) -> int | None:
        """Return the index of the first key that occurred before."""
        if len(self._keys) >= MAX_KEYS:
            return None
        for at, key in enumerate(keys.to_pylist()):
            digest = hash(key)
            if digest in self._keys:
                return at
            self._keys.add(digest)
        return None

    def all_holes(self) -> list[Hole]:
        trailing = [Hole(self._next, self._stop, None)] if self._next < self._stop and not self._done else []
        return self._holes + trailing
