"""What the page needs, aggregated in Spark: nothing is fetched but the rows that the page shows, and their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..data import Bounds, Period, ReportData
from .events import anomalies, rebalances
from .rows import bucket_of, held
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
    """
    :param frames: the derived tables of ``period``, by name: all of :mod:`kgroups.pipeline.derived`.
    :param every: the bucket of ``commit_rate``, as its rules had it.
    """
    most = bounds or Bounds()
    with held(frames["stale"]) as uses, held(present(frames["memberships"], most)) as members:
        with fine_lag(frames["lag"], period, most) as fine:
            lag = lag_series(fine, period, most)
            behind = fine.frame.groupBy("group").agg(F.max_by("behind", "bucket").alias("behind"))
            standing = groups(frames, uses, members, behind, most)
            lag_since = fine.since
        readers = consumers(frames["latest_offsets"], members, most)
        unused = stale(uses, most)
    with fine_rate(frames["commit_rate"], period, most, every) as fine:
        rate = rate_series(fine, period, most)
        rate_since = fine.since
    rounds, first_round = rebalances(frames["rebalances"], most)
    return ReportData(
        cluster_id=cluster_id,
        period=period,
        shown=_shown(period, lag_since, rate_since, first_round and bucket_of(first_round, MINUTE)),
        lag=lag,
        rebalances=rounds,
        groups=standing,
        consumers=readers,
        anomalies=anomalies(frames["anomalies"], most),
        rate=rate,
        stale=unused,
        expiring=expiring(frames["expiring"], most),
        completeness=completeness(frames["completeness"], most),
    )


def _shown(period: Period, *begins: datetime | None) -> Period:
    """From when on anything is known: charts of a store that began an hour ago are not empty for a day."""
    known = [begin for begin in begins if begin]
    return period._replace(since=max(period.since, min(known))) if known else period
