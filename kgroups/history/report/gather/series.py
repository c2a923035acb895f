"""Time series of lag and commits, of the groups with the highest values, in buckets that fit the span.

Strategy: rows are first aggregated in the shortest buckets that a chart could have. Then the start of the data is
known, and with it the length of buckets that gives a chart its number of points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter

from ...engine import Engine
from .. import words
from ..data import Bounds, Kept, Lag, LagPoint, LagSeries, Period, Rate, RatePoint, RateSeries
from .rows import bucket_of, bucket_start, fetch, texts

BARS = 144
"""Maximum number of bars that can be distinguished; on a day, one is ten minutes."""


def define_lag(engine: Engine, period: Period, bounds: Bounds) -> None:
    """Define the relation ``fine_lag``: ``lag`` and ``behind``, the highest in a bucket, and ``last``, the last lag.

    A negative lag of a partition counts as 0, so it does not reduce the lag of others.
    """
    bucket = bucket_start("sampled_at", _fine(period, bounds))
    engine.define(
        "fine_lag",
        f"""
        with totals as (
          select
            `group`,
            sampled_at,
            sum(greatest(lag, 0)) as total,
            -- The time of partitions without lag is 0, which is not that of others whose time is unknown.
            case
              when max(time_lag_ms) > 0 or count(case when lag > 0 and time_lag_ms is null then 1 end) = 0
                then max(time_lag_ms)
            end as behind
          from lag
          where lag is not null
          group by `group`, sampled_at
        )
        select
          `group`, {bucket} as bucket, max(total) as lag, max(behind) as behind, max_by(total, sampled_at) as last
        from totals
        group by `group`, {bucket}""",
    )


def lag_series(engine: Engine, period: Period, bounds: Bounds) -> tuple[Lag, datetime | None]:
    """Return the lag of groups, and the start of the first bucket of ``fine_lag``."""
    top = fetch(
        engine,
        f"""
        select `group`, peak, last, total, top.since, verdict,
          coalesce({ATTENTION}, false) as flagged
        from (
          select `group`, max(lag) as peak, max_by(last, bucket) as last, count(*) over () as total,
            min(min(bucket)) over () as since
          from fine_lag group by `group` order by peak desc, `group` limit {bounds.groups}
        ) as top left join report_groups using (`group`)
        order by peak desc, `group`""",
    )
    since = top[0]["since"] if top else None
    step = _step(period, since, bounds.points // max(len(top), 1) - 1, _fine(period, bounds))
    points = lag_points(engine, period, [row["group"] for row in top], step)
    series = (
        LagSeries(row["group"], row["peak"], row["last"], points[row["group"]], row["verdict"], row["flagged"])
        for row in top
    )
    return Lag(Kept(tuple(series), top[0]["total"] if top else 0), step), since


ATTENTION = "verdict in ('WARN', 'STOP', 'STALL', 'REWIND') or `use` = 'STALE' or expiring or anomalous"
"""Whether a row of ``report_groups`` needs attention, in SQL."""


def page_step(period: Period, since: datetime | None, bounds: Bounds) -> timedelta:
    """Return the length of the buckets of the chart of a page."""
    return _step(period, since, bounds.samples - 1, _fine(period, bounds))


def lag_points(
    engine: Engine, period: Period, groups: Sequence[str], step: timedelta
) -> Mapping[str, tuple[LagPoint, ...]]:
    """Return the lag of each of these groups, in buckets of this length."""
    bucket = bucket_start("bucket", step)
    engine.define(
        "lag_points",
        f"""
        select `group`, {bucket} as time, max(lag) as lag, max(behind) as behind
        from fine_lag
        where `group` in ({texts(engine, groups)})
        group by `group`, {bucket}""",
    )
    points: dict[str, tuple[LagPoint, ...]] = defaultdict(tuple)
    for group, rows in groupby(fetch(engine, "select * from lag_points order by `group`, time"), itemgetter("group")):
        points[group] = tuple(LagPoint(max(row["time"], period.since), row["lag"], row["behind"]) for row in rows)
    return points


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


def _fine(period: Period, bounds: Bounds) -> timedelta:
    return words.bucket(period.until - period.since, bounds.points)


def _step(period: Period, since: datetime | None, points: int, fine: timedelta) -> timedelta:
    """Return the length of buckets with which ``points`` of them cover the data."""
    length = period.until - max(since or period.since, period.since)
    return words.bucket(max(length, fine), max(points, 1), of=fine)
