"""Time series of lag and commits, of the groups with the highest values, in buckets that fit the span.

Strategy: rows are first aggregated in the shortest buckets that a chart could have, and cached. Then the start of the
data is known, and with it the length of buckets that gives a chart its number of points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .. import words
from ..data import Bounds, Kept, Lag, LagPoint, LagSeries, Period, Rate, RatePoint, RateSeries
from .rows import bucket_start, cached, fetch, only

BARS = 144
"""Maximum number of bars that can be distinguished; on a day, one is ten minutes."""


class FineBuckets(NamedTuple):
    """A table aggregated in short buckets: ``group``, ``bucket``, and its values."""

    frame: DataFrame
    step: timedelta
    since: datetime | None
    """Start of the first bucket."""
    groups: int

    def step_for(self, points: int, period: Period) -> timedelta:
        """Return the length of buckets with which ``points`` of them cover the data."""
        length = period.until - max(self.since or period.since, period.since)
        return words.bucket(max(length, self.step), max(points, 1), of=self.step)


@contextmanager
def fine_lag(lag: DataFrame, period: Period, bounds: Bounds) -> Iterator[FineBuckets]:
    """Aggregate to ``lag`` and ``behind``, the highest in the bucket, and ``last``, the lag at its last sample.

    A negative lag of a partition counts as 0, so it does not reduce the lag of others.
    """
    step = words.bucket(period.until - period.since, bounds.points)
    totals = (
        lag.where("lag is not null")
        .groupBy("group", "sampled_at")
        .agg(F.sum(F.greatest("lag", F.lit(0))).alias("lag"), F.max("time_lag_ms").alias("behind"))
    )
    buckets = totals.groupBy("group", bucket_start("sampled_at", step).alias("bucket")).agg(
        F.max("lag").alias("lag"), F.max("behind").alias("behind"), F.max_by("lag", "sampled_at").alias("last")
    )
    with _with_totals(buckets, step) as fine:
        yield fine


@contextmanager
def fine_rate(commit_rate: DataFrame, period: Period, bounds: Bounds, every: timedelta) -> Iterator[FineBuckets]:
    """Aggregate to ``commits`` and ``progress``, which is null if any part of it is unknown."""
    step = words.bucket(period.until - period.since, bounds.points, of=every)
    buckets = commit_rate.groupBy("group", bucket_start("bucket", step).alias("bucket")).agg(
        F.sum("commits").alias("commits"), _sum_of_all("progress")
    )
    with _with_totals(buckets, step) as fine:
        yield fine


@contextmanager
def _with_totals(buckets: DataFrame, step: timedelta) -> Iterator[FineBuckets]:
    with cached(buckets) as frame:
        seen = only(frame.agg(F.min("bucket").alias("since"), F.count_distinct("group").alias("groups")))
        yield FineBuckets(frame, step, seen["since"], seen["groups"])


def lag_series(fine: FineBuckets, period: Period, bounds: Bounds) -> Lag:
    peaks = fine.frame.groupBy("group").agg(F.max("lag").alias("peak"), F.max_by("last", "bucket").alias("last"))
    top = fetch(peaks.orderBy(F.desc("peak"), "group").limit(bounds.groups))
    step = fine.step_for(bounds.points // max(len(top), 1) - 1, period)
    rows = (
        fine.frame.where(F.col("group").isin(*(row["group"] for row in top)))
        .groupBy("group", bucket_start("bucket", step).alias("time"))
        .agg(F.max("lag").alias("lag"), F.max("behind").alias("behind"))
        .orderBy("group", "time")
    )
    points: dict[str, list[LagPoint]] = defaultdict(list)
    for row in fetch(rows) if top else ():
        points[row["group"]].append(LagPoint(max(row["time"], period.since), row["lag"], row["behind"]))
    series = tuple(LagSeries(row["group"], row["peak"], row["last"], tuple(points[row["group"]])) for row in top)
    return Lag(Kept(series, fine.groups), step)


def rate_series(fine: FineBuckets, period: Period, bounds: Bounds) -> Rate:
    sums = fine.frame.groupBy("group").agg(F.sum("commits").alias("commits"))
    top = [row["group"] for row in fetch(sums.orderBy(F.desc("commits"), "group").limit(bounds.rates))]
    step = fine.step_for(min(BARS, bounds.points // (len(top) + 1) - 1), period)
    named = F.when(F.col("group").isin(*top), F.col("group"))
    rows = (
        fine.frame.groupBy(named.alias("name"), bucket_start("bucket", step).alias("time"))
        .agg(F.sum("commits").alias("commits"), _sum_of_all("progress"))
        .orderBy("time")
    )
    points: dict[str | None, list[RatePoint]] = defaultdict(list)
    for row in fetch(rows) if top else ():
        points[row["name"]].append(RatePoint(row["time"], row["commits"], row["progress"]))
    names = [*top, *([None] if None in points else [])]
    series = (RateSeries(name, sum(point.commits for point in points[name]), tuple(points[name])) for name in names)
    return Rate(Kept(tuple(series), fine.groups), step)


def _sum_of_all(column: str) -> Column:
    return F.when(F.count(column) == F.count("*"), F.sum(column)).alias(column)
