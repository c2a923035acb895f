"""The partitions of one watched group: lag, its history, and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ..headroom import Headroom
from ..time_lag import TimeLag
from ..views.lag_summary import By, shares
from ..views.offset_row import GroupOffsets, OffsetRow
from .totals import Place
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
    times = [sample.at for sample in samples]
    known = [(sample.totals.ends_at(), sample.totals.committed_at()) for sample in samples]
    return [_partition(row, times, known) for share in shares(offsets, By.GROUP) for row in share.rows]


def _partition(
    row: OffsetRow, times: Sequence[int], known: Sequence[tuple[Mapping[Place, int], Mapping[Place, int]]]
) -> PartitionRow:
    if row.topic is None or row.partition is None:
        return PartitionRow(row, (), None, None)
    place = (row.topic, row.partition)
    ends = [each.get(place) for each, _ in known]
    commits = [each.get(place) for _, each in known]
    lags = [None if end is None or commit is None else end - commit for end, commit in zip(ends, commits, strict=True)]
    return PartitionRow(row, tuple(lags), _rate(ends, times), _rate(commits, times))


def _rate(values: Sequence[int | None], times: Sequence[int]) -> float | None:
    """Return the change per second over the newest samples; ``None`` if the newest value is unknown."""
    known = [(at, value) for at, value in list(zip(times, values, strict=True))[-RATED:] if value is not None]
    if len(known) < 2 or values[-1] is None:
        return None
    (since, first), (until, last) = known[0], known[-1]
    return (last - first) * 1000 / (until - since) if until > since else None
