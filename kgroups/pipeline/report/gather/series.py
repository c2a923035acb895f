"""What goes on over time: lag, and commits; of the groups that have most, in buckets that fit the span.

Strategy: rows are summed up in buckets as fine as a chart could ever be, and kept; only then is known when anything
begins, and which width leaves the chart its number of points.
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
from .rows import begin, fetch, held, only

BARS = 144
"""More of them are too thin to be told apart; of a day, one has ten minutes."""


class Fine(NamedTuple):
    """A table in fine buckets: ``group``, ``bucket``, and its values."""

    frame: DataFrame
    step: timedelta
    since: datetime | None
    """The first bucket of all."""
    groups: int

    def step_for(self, points: int, period: Period) -> timedelta:
        """The width of buckets of which so many reach from the first to the end."""
        length = period.until - max(self.since or period.since, period.since)
        return words.bucket(max(length, self.step), max(points, 1), of=self.step)


@contextmanager
def fine_lag(lag: DataFrame, period: Period, bounds: Bounds) -> Iterator[Fine]:
    """With ``lag`` and ``behind``, the worst in the bucket, and ``last``, the lag at its last sample.

    A partition that is ahead of its log's end makes up for no other that lags.
    """
    step = words.bucket(period.until - period.since, bounds.points)
    totals = (
        lag.where("lag is not null")
        .groupBy("group", "sampled_at")
        .agg(F.sum(F.greatest("lag", F.lit(0))).alias("lag"), F.max("time_lag_ms").alias("behind"))
    )
    buckets = totals.groupBy("group", begin("sampled_at", step).alias("bucket")).agg(
        F.max("lag").alias("lag"), F.max("behind").alias("behind"), F.max_by("lag", "sampled_at").alias("last")
    )
    with _measured(buckets, step) as fine:
        yield fine


@contextmanager
def fine_rate(commit_rate: DataFrame, period: Period, bounds: Bounds, every: timedelta) -> Iterator[Fine]:
    """With ``commits``, and ``progress``, null where any of it is unknown."""
    step = words.bucket(period.until - period.since, bounds.points, of=every)
    buckets = commit_rate.groupBy("group", begin("bucket", step).alias("bucket")).agg(
        F.sum("commits").alias("commits"), _sum_of_all("progress")
    )
    with _measured(buckets, step) as fine:
        yield fine


@contextmanager
def _measured(buckets: DataFrame, step: timedelta) -> Iterator[Fine]:
    with held(buckets) as frame:
        seen = only(frame.agg(F.min("bucket").alias("since"), F.count_distinct("group").alias("groups")))
        yield Fine(frame, step, seen["since"], seen["groups"])


def lag_series(fine: Fine, period: Period, bounds: Bounds) -> Lag:
    peaks = fine.frame.groupBy("group").agg(F.max("lag").alias("peak"), F.max_by("last", "bucket").alias("last"))
    top = fetch(peaks.orderBy(F.desc("peak"), "group").limit(bounds.groups))
    step = fine.step_for(bounds.points // max(len(top), 1) - 1, period)
    rows = (
        fine.frame.where(F.col("group").isin(*(row["group"] for row in top)))
        .groupBy("group", begin("bucket", step).alias("time"))
        .agg(F.max("lag").alias("lag"), F.max("behind").alias("behind"))
        .orderBy("group", "time")
    )
    points: dict[str, list[LagPoint]] = defaultdict(list)
    for row in fetch(rows) if top else ():
        points[row["group"]].append(LagPoint(max(row["time"], period.since), row["lag"], row["behind"]))
    series = tuple(LagSeries(row["group"], row["peak"], row["last"], tuple(points[row["group"]])) for row in top)
    return Lag(Kept(series, fine.groups), step)


def rate_series(fine: Fine, period: Period, bounds: Bounds) -> Rate:
    sums = fine.frame.groupBy("group").agg(F.sum("commits").alias("commits"))
    top = [row["group"] for row in fetch(sums.orderBy(F.desc("commits"), "group").limit(bounds.rates))]
    step = fine.step_for(min(BARS, bounds.points // (len(top) + 1) - 1), period)
    named = F.when(F.col("group").isin(*top), F.col("group"))
    rows = (
        fine.frame.groupBy(named.alias("name"), begin("bucket", step).alias("time"))
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
