"""The partitions of one watched group: lag, its history, and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kgroups.model.headroom import Headroom
from kgroups.model.lag import compute_lag
from kgroups.model.rates import Place, Reading, rates_of, unbroken
from kgroups.model.time_lag import TimeLag
from kgroups.model.views.lag_summary import By, shares
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow

from .watching import RATED, Sample


class PartitionRow(NamedTuple):
    """One partition as in ``describe``, its lags (oldest first), and its rates in records per second."""

    row: OffsetRow
    lags: tuple[int | None, ...]
    rate_in: float | None
    rate_out: float | None


class TimeLags(NamedTuple):
    """The time lags and headroom of the partitions of one group, and when they were read (milliseconds since 1970).

    ``note``: why some are unknown, as in ``kgroups lag``.
    """

    at: int
    ages: Mapping[Place, TimeLag]
    failures: tuple[str, ...] = ()
    rooms: Mapping[Place, Headroom] = MappingProxyType({})
    note: str | None = None


def partitions_of(offsets: GroupOffsets, samples: Sequence[Sample]) -> list[PartitionRow]:
    """Return a row for each partition, and for each member without partitions."""
    read: dict[Place, list[Reading | None]] = {}
    for number, sample in enumerate(samples):
        places = ((topic, partition) for topic, partitions in sample.reading.places for partition in partitions)
        for at, place in enumerate(places):
            read.setdefault(place, [None] * len(samples))[number] = sample.reading.of(at, place)
    return [
        _partition(row, read.get((row.topic or "", row.partition or 0), ()))
        for share in shares(offsets, By.GROUP)
        for row in share.rows
    ]


def _partition(row: OffsetRow, read: Sequence[Reading | None]) -> PartitionRow:
    if row.topic is None or row.partition is None:
        return PartitionRow(row, (), None, None)
    lags = [compute_lag(each.committed[0], each.ends[0]) if each else None for each in read]
    missing = max((at for at, each in enumerate(read) if each is None), default=-1)
    readings = unbroken([each for each in read[missing + 1 :] if each])
    return PartitionRow(row, tuple(lags), *(rates_of(readings[-RATED:]) if readings else (None, None)))
