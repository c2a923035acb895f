"""Batches of offsets with the same delivery state, and their combination, as in Kafka's share coordinator."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final, NamedTuple


class DeliveryState:
    """The delivery states that share coordinators store.

    Brokers do not store that a record is acquired: an acquired record has no state, or that before.
    """

    AVAILABLE: Final = 0
    ACKNOWLEDGED: Final = 2
    ARCHIVED: Final = 4
    FINISHED: Final = frozenset({ACKNOWLEDGED, ARCHIVED})


class StateBatch(NamedTuple):
    """The offsets ``first`` to ``last``, both included. ``deliveries`` is the delivery count of each record."""

    first: int
    last: int
    state: int
    deliveries: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    @property
    def finished(self) -> bool:
        """Whether its records are not delivered again."""
        return self.state in DeliveryState.FINISHED


def clip(batches: Iterable[StateBatch], start: int) -> list[StateBatch]:
    """Return the parts of batches at or after an offset."""
    return [batch if batch.first >= start else batch._replace(first=start) for batch in batches if batch.last >= start]


def combine(batches: Iterable[StateBatch]) -> tuple[StateBatch, ...]:
    """Return batches that do not overlap, sorted.

    Of several states of an offset, that with the most deliveries applies, and of these the one with the largest number.
    """
    waiting = sorted(batches, reverse=True)
    edges = sorted({edge for batch in waiting for edge in (batch.first, batch.last + 1)})
    combined: list[StateBatch] = []
    active: list[tuple[int, int, int]] = []
    for at, following in pairwise(edges):
        while waiting and waiting[-1].first == at:
            _, last, state, deliveries = waiting.pop()
            heappush(active, (-deliveries, -state, last))
        while active and active[0][2] < at:
            heappop(active)
        if active:
            _append(combined, StateBatch(at, following - 1, -active[0][1], -active[0][0]))
    return tuple(combined)


def _append(combined: list[StateBatch], batch: StateBatch) -> None:
    previous = combined[-1] if combined else None
    if previous and previous.last + 1 == batch.first and previous[2:] == batch[2:]:
        combined[-1] = previous._replace(last=batch.last)
    else:
        combined.append(batch)
