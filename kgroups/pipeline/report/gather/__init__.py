"""Aggregate the data of the page in Spark: only the rows that the page shows, and their numbers, are fetched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..data import Bounds, Period, ReportData
from .events import anomalies, rebalances
from .rows import bucket_of, cached
from .series import fine_lag, fine_rate, lag_series, rate_series
from .standing import consumers, expiring, groups, present, stale
from .wholeness import completeness

__all__ = ["gather"]

MINUTE = timedelta(minutes=1)


def gather(
    frames: Mapping[str, DataFrame],
    period: Period,
    cluster_id: str | None,
    bounds: Bounds | None = None,
    *,
    every: timedelta = MINUTE,
) -> ReportData:
    """Gather the data of the page.

    :param frames: all tables of :mod:`kgroups.pipeline.derived` for ``period``, by name.
    :param every: the length of the buckets of ``commit_rate``.
    """
    limits = bounds or Bounds()
    with cached(frames["stale"]) as uses, cached(present(frames["memberships"], limits)) as members:
        with fine_lag(frames["lag"], period, limits) as fine:
            lag = lag_series(fine, period, limits)
            behind = fine.frame.groupBy("group").agg(F.max_by("behind", "bucket").alias("behind"))
            current = groups(frames, uses, members, behind, limits)
            lag_since = fine.since
        readers = consumers(frames["latest_offsets"], members, limits)
        unused = stale(uses, limits)
    with fine_rate(frames["commit_rate"], period, limits, every) as fine:
        rate = rate_series(fine, period, limits)
        rate_since = fine.since
    rounds, first_round = rebalances(frames["rebalances"], limits)
    return ReportData(
        cluster_id=cluster_id,
        period=period,
        shown=_shown(period, lag_since, rate_since, first_round and bucket_of(first_round, MINUTE)),
        lag=lag,
        rebalances=rounds,
        groups=current,
        consumers=readers,
        anomalies=anomalies(frames["anomalies"], limits),
        rate=rate,
        stale=unused,
        expiring=expiring(frames["expiring"], limits),
        completeness=completeness(frames["completeness"], limits),
    )


def _shown(period: Period, *starts: datetime | None) -> Period:
    """Return the part of the period with known data, so charts of a new store are not mostly empty."""
    known = [start for start in starts if start]
    return period._replace(since=max(period.since, min(known))) if known else period
