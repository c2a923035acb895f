"""Ranges of offsets to read, and their division among tasks. Pure.

Rule: ``stop`` is exclusive. Offsets in a range need not have records: compaction, aborted transactions, and
transaction markers leave gaps, also at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kgroups.errors import HistoryError


class Range(NamedTuple):
    """A range of offsets of one partition."""

    partition: int
    start: int
    stop: int

    @property
    def span(self) -> int:
        """The number of offsets, which is the maximum number of records."""
        return self.stop - self.start


class Ends(NamedTuple):
    """The offsets at which one partition's log starts and ends.

    ``stable`` is the last stable offset: committed records are below it, and a transaction is open above it.
    """

    start: int
    stable: int
    end: int


def between(starts: Mapping[int, int], stops: Mapping[int, int]) -> list[Range]:
    """Return the ranges between two positions, by partition, without empty ones."""
    pieces = [Range(partition, starts.get(partition, 0), stop) for partition, stop in sorted(stops.items())]
    return [piece for piece in pieces if piece.span > 0]


def subtract(ranges: Iterable[Range], covered: Iterable[Range]) -> list[Range]:
    """Return the parts of ranges that no covered range has; covered ranges may overlap."""
    known: defaultdict[int, list[Range]] = defaultdict(list)
    for piece in sorted(each for each in covered if each.span > 0):
        known[piece.partition].append(piece)
    found = []
    for piece in ranges:
        for other in known[piece.partition]:
            if other.start > piece.start:
                found.append(piece._replace(stop=min(piece.stop, other.start)))
            piece = piece._replace(start=max(piece.start, min(piece.stop, other.stop)))
        found.append(piece)
    return [piece for piece in found if piece.span > 0]


def pack(ranges: Sequence[Range], bins: int) -> list[tuple[Range, ...]]:
    """Divide ranges into at most ``bins`` splits of about the same number of offsets, in the order of the ranges."""
    total = sum(piece.span for piece in ranges)
    if not total:
        return []
    size = -(-total // max(bins, 1))
    splits: list[list[Range]] = [[]]
    room = size
    for piece in ranges:
        while piece.span > room:
            if room:
                splits[-1].append(piece._replace(stop=piece.start + room))
            piece = piece._replace(start=piece.start + room)
            splits.append([])
            room = size
        splits[-1].append(piece)
        room -= piece.span
    return [tuple(split) for split in splits if split]


SPLIT = 250_000
"""Maximum number of offsets in a split: some seconds of one core, whatever the cluster's size."""


def divide(ranges: Sequence[Range], cores: int) -> list[tuple[Range, ...]]:
    """Divide ranges into at least one split for each core, if there are enough offsets, and none above :data:`SPLIT`.

    More splits than cores occupy executors that start later.
    """
    return pack(ranges, max(cores, -(-sum(piece.span for piece in ranges) // SPLIT)))


def advance(starts: Mapping[int, int], stops: Mapping[int, int], max_offsets: int) -> dict[int, int]:
    """Return the positions at most ``max_offsets`` offsets after ``starts``; every partition advances by its share."""
    spans = {piece.partition: piece.span for piece in between(starts, stops)}
    total = sum(spans.values())
    if total <= max_offsets:
        return dict(stops)
    reached = {partition: starts.get(partition, 0) for partition in stops}
    left = max(max_offsets, 1)
    for partition, span in _smallest_first(spans):
        step = min(span, max(1, left * span // total)) if left else 0
        reached[partition] += step
        left -= step
        total -= span
    return reached


def _smallest_first(spans: Mapping[int, int]) -> Iterable[tuple[int, int]]:
    return sorted(spans.items(), key=lambda item: (item[1], item[0]))


def check_position(topic: str, partition: int, position: int, stable: int | None) -> None:
    """Check that a partition still reaches to where it was read.

    :param stable: its last stable offset now; ``None`` if it does not exist.
    :raises HistoryError: if it does not.
    """
    if stable is None or stable < position:
        raise HistoryError(
            f"{topic}-{partition} ends at {stable or 0} now, but was read up to {position} before: the topic was "
            "recreated or its log was truncated; collect into a new store"
        )
