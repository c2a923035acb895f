"""Gather the data of the page: only the rows that the page shows, and their numbers, leave the engine."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...engine import Engine
from ..data import Bounds, Period, ReportData, Retention
from ..migration import Judged, sum_up
from .lists import anomalies, consumers, cost, define_groups, expiring, groups, rebalances, stale
from .pages import pages
from .rows import bucket_of, fetch
from .series import define_lag, lag_series, rate_series
from .wholeness import completeness

__all__ = ["gather"]

MINUTE = timedelta(minutes=1)


def gather(
    engine: Engine,
    period: Period,
    cluster_id: str | None,
    bounds: Bounds | None = None,
    *,
    every: timedelta = MINUTE,
    judged: Judged | None = None,
) -> ReportData:
    """Gather the data of the page.

    :param engine: has all tables of :mod:`kgroups.history.derived` for ``period``, and the relation ``retention``.
    :param every: the length of the buckets of ``commit_rate``.
    :param judged: the verdicts about the migration of groups.
    """
    limits = bounds or Bounds()
    # Buckets of a young history are short: its chart is of minutes, although the period is a day.
    (first,) = fetch(engine, "select min(sampled_at) as sampled_at from lag")
    sampled = period._replace(since=max(period.since, first["sampled_at"] or period.since))
    define_lag(engine, sampled, limits)
    define_groups(engine)
    lag, lag_since = lag_series(engine, sampled, limits)
    rate, rate_since = rate_series(engine, period, limits, every)
    rounds, first_round = rebalances(engine, limits)
    listed = groups(engine, limits)
    known = fetch(engine, "select `group`, kind from report_groups where `use` <> 'DELETED' order by `group`")
    (kept,) = fetch(engine, "select retention_ms, retention_source from retention")
    return ReportData(
        cluster_id=cluster_id,
        period=period,
        shown=_shown(period, lag_since, rate_since, first_round and bucket_of(first_round, MINUTE)),
        lag=lag,
        rebalances=rounds,
        groups=listed,
        consumers=consumers(engine, limits),
        anomalies=anomalies(engine, limits),
        rate=rate,
        stale=stale(engine, limits),
        expiring=expiring(engine, limits),
        completeness=completeness(engine, limits),
        retention=Retention(*kept.values()),
        cost=cost(engine),
        migrations=sum_up(judged, ((row["group"], row["kind"]) for row in known), limits.rows, limits.names),
        pages=pages(engine, sampled, listed.rows, lag_since, limits),
    )


def _shown(period: Period, *starts: datetime | None) -> Period:
    """Return the part of the period with known data, so charts of a new store are not mostly empty."""
    known = [start for start in starts if start]
    return period._replace(since=max(period.since, min(known))) if known else period
