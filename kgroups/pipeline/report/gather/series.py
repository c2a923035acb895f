"""Time series of lag and commits, of the groups with the highest values, in buckets that fit the span.

Strategy: rows are first aggregated in the shortest buckets that a chart could have. Then the start of the data is
known, and with it the length of buckets that gives a chart its number of points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from kgroups.pipeline.engine import Engine

from .. import words
from ..data import Bounds, Kept, Lag, LagPoint, LagSeries, Period, Rate, RatePoint, RateSeries
from .rows import bucket_of, bucket_start, fetch, texts

BARS = 144
"""Maximum number of bars that can be distinguished; on a day, one is ten minutes."""


def lag_series(engine: Engine, period: Period, bounds: Bounds) -> tuple[Lag, datetime | None]:
    """Return the lag of groups, and the start of the first bucket.

    Defines the relation ``fine_lag``: ``lag`` and ``behind``, the highest in a bucket, and ``last``, the lag at its
    last sample. A negative lag of a partition counts as 0, so it does not reduce the lag of others.
    """
    fine = words.bucket(period.until - period.since, bounds.points)
    engine.define(
        "fine_lag",
        f"""
        with totals as (
          select `group`, sampled_at, sum(greatest(lag, 0)) as total, max(time_lag_ms) as behind
          from lag
          where lag is not null
          group by `group`, sampled_at
        )
        select
          `group`,
          {bucket_start("sampled_at", fine)} as bucket,
          max(total) as lag,
          max(behind) as behind,
          max_by(total, sampled_at) as last
        from totals
        group by `group`, {bucket_start("sampled_at", fine)}""",
    )
    top = fetch(
        engine,
        f"""
        select `group`, max(lag) as peak, max_by(last, bucket) as last, count(*) over () as total,
          min(min(bucket)) over () as since
        from fine_lag group by `group` order by peak desc, `group` limit {bounds.groups}""",
    )
    since = top[0]["since"] if top else None
    step = _step(period, since, bounds.points // max(len(top), 1) - 1, fine)
    engine.define(
        "lag_points",
        f"""
        select `group`, {bucket_start("bucket", step)} as time, max(lag) as lag, max(behind) as behind
        from fine_lag
        where `group` in ({texts(engine, [row["group"] for row in top])})
        group by `group`, {bucket_start("bucket", step)}""",
    )
    points: dict[str, list[LagPoint]] = defaultdict(list)
    for row in fetch(engine, "select * from lag_points order by `group`, time"):
        points[row["group"]].append(LagPoint(max(row["time"], period.since), row["lag"], row["behind"]))
    series = tuple(LagSeries(row["group"], row["peak"], row["last"], tuple(points[row["group"]])) for row in top)
    return Lag(Kept(series, top[0]["total"] if top else 0), step), since


def page_lag(
    engine: Engine, period: Period, groups: Sequence[str], since: datetime | None, bounds: Bounds
) -> dict[str, tuple[LagPoint, ...]]:
    """Return the lag of each of these groups, in buckets that fit the chart of a page."""
    fine = words.bucket(period.until - period.since, bounds.points)
    step = bucket_start("bucket", _step(period, since, bounds.samples - 1, fine))
    engine.define(
        "page_lag",
        f"""
        select `group`, {step} as time, max(lag) as lag, max(behind) as behind
        from fine_lag
        where `group` in ({texts(engine, groups)})
        group by `group`, {step}""",
    )
    points: dict[str, list[LagPoint]] = defaultdict(list)
    for row in fetch(engine, "select * from page_lag order by `group`, time"):
        points[row["group"]].append(LagPoint(max(row["time"], period.since), row["lag"], row["behind"]))
    return {group: tuple(found) for group, found in points.items()}


def rate_series(engine: Engine, period: Period, bounds: Bounds, every: timedelta) -> tuple[Rate, datetime | None]:
    """Return the commits of groups, and the start of the first bucket. Progress is null if any part is unknown."""
    fine = words.bucket(period.until - period.since, bounds.points, of=every)
    top = fetch(
        engine,
        f"""
        select `group`, sum(commits) as commits, count(*) over () as total, min(min(bucket)) over () as since
        from commit_rate group by `group` order by commits desc, `group` limit {bounds.rates}""",
    )
    since = bucket_of(top[0]["since"], fine) if top else None
    step = _step(period, since, min(BARS, bounds.points // (len(top) + 1) - 1), fine)
    names = [row["group"] for row in top]
    named = f"case when `group` in ({texts(engine, names)}) then `group` end"
    engine.define(
        "rate_points",
        f"""
        select
          {named} as name,
          {bucket_start("bucket", step)} as time,
          sum(commits) as commits,
          case when count(progress) = count(*) then sum(progress) end as progress
        from commit_rate
        group by {named}, {bucket_start("bucket", step)}""",
    )
    points: dict[str | None, list[RatePoint]] = defaultdict(list)
    for row in fetch(engine, "select * from rate_points order by time"):
        points[row["name"]].append(RatePoint(row["time"], row["commits"], row["progress"]))
    shown: list[str | None] = [*names, *([None] if None in points else [])]
    series = (RateSeries(name, sum(point.commits for point in points[name]), tuple(points[name])) for name in shown)
    return Rate(Kept(tuple(series), top[0]["total"] if top else 0), step), since


def _step(period: Period, since: datetime | None, points: int, fine: timedelta) -> timedelta:
    """Return the length of buckets with which ``points`` of them cover the data."""
    length = period.until - max(since or period.since, period.since)
    return words.bucket(max(length, fine), max(points, 1), of=fine)
