"""Which offsets of which partitions are to be read, and by whom. Pure.

Rule: ``stop`` is the first offset that is not read. Offsets between the two need not exist: compaction, aborted
transactions and their markers leave holes, at the end too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Range(NamedTuple):
    """A piece of one partition's log."""

    partition: int
    start: int
    stop: int

    @property
    def span(self) -> int:
        """Offsets in it; at most so many records."""
        return self.stop - self.start


class Ends(NamedTuple):
    """Where one partition's log starts and ends. Committed records go up to ``stable``, the last stable offset: above
    it a transaction is open."""

    start: int
    stable: int
    end: int


def between(starts: Mapping[int, int], stops: Mapping[int, int]) -> list[Range]:
    """The ranges from one position to another, by partition; those without an offset in them are left out."""
    pieces = [Range(partition, starts.get(partition, 0), stop) for partition, stop in sorted(stops.items())]
    return [piece for piece in pieces if piece.span > 0]


def pack(ranges: Sequence[Range], bins: int) -> list[tuple[Range, ...]]:
    """At most ``bins`` lots of about the same number of offsets; large ranges are cut, order within one is kept."""
    total = sum(piece.span for piece in ranges)
    if not total:
        return []
    size = -(-total // max(bins, 1))
    lots: list[list[Range]] = [[]]
    room = size
    for piece in ranges:
        while piece.span > room:
            if room:
                lots[-1].append(piece._replace(stop=piece.start + room))
            piece = piece._replace(start=piece.start + room)
            lots.append([])
            room = size
        lots[-1].append(piece)
        room -= piece.span
    return [tuple(lot) for lot in lots if lot]


def limited(starts: Mapping[int, int], stops: Mapping[int, int], most: int) -> dict[int, int]:
    """Positions at most ``most`` offsets behind ``starts``: every partition advances by its share, none starves."""
    spans = {piece.partition: piece.span for piece in between(starts, stops)}
    total = sum(spans.values())
    if total <= most:
        return dict(stops)
    reached = {partition: starts.get(partition, 0) for partition in stops}
    left = max(most, 1)
    for partition, span in _smallest_first(spans):
        step = min(span, max(1, left * span // total)) if left else 0
        reached[partition] += step
        left -= step
        total -= span
    return reached


def _smallest_first(spans: Mapping[int, int]) -> Iterable[tuple[int, int]]:
    return sorted(spans.items(), key=lambda item: (item[1], item[0]))
