"""The groups of each watched cluster, counted and summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupState
from kgroups.model.severity import Severity
from kgroups.model.status import totals_text

from .watching import WatchRow


class ClusterTotal(NamedTuple):
    """The watched groups of one cluster; all fields are ``None`` if none was ever reported because it failed.

    If some were never reported, only ``known_lag`` and ``stale`` are known.

    ``total_lag`` is ``None`` if the lag of a group is unknown: ``unknown`` counts these groups, and ``known_lag`` sums
    up what is known. ``ahead`` and ``data_lost`` count partitions as in the lag view. ``stale``: how many groups show
    an older sample, because the newest one failed. ``critical`` and ``warning``: how many have a status so severe.
    """

    cluster: str
    groups: int | None = None
    stable: int | None = None
    empty: int | None = None
    rebalancing: int | None = None
    other_state: int | None = None
    lagging: int | None = None
    total_lag: int | None = None
    known_lag: int | None = None
    unknown: int | None = None
    ahead: int | None = None
    data_lost: int | None = None
    stale: int | None = None
    critical: int | None = None
    warning: int | None = None


class Summary(NamedTuple):
    """All watched groups: their number by status, and the sum of their known lags; ``whole``: of all lags."""

    statuses: Mapping[str, int]
    known_lag: int
    whole: bool

    def text(self, *, short: bool = False) -> str:
        """Return the totals, as of ``kgroups lag``."""
        return totals_text(*self, short=short) if self.statuses else "0 groups"


def summary_of(rows: Collection[WatchRow]) -> Summary:
    """Return the totals; the lag of a row that shows an older sample is unknown."""
    now = [row for row in rows if not row.stale]
    lags = [(row.known_lag if row.total_lag is None else row.total_lag) or 0 for row in now]
    whole = len(now) == len(rows) and not any(row.total_lag is None for row in now)
    return Summary(Counter(row.status.status for row in rows), sum(lags), whole)


def cluster_totals(
    rows: Iterable[WatchRow], clusters: Iterable[str], unreached: Container[str | None], partial: Container[str] = ()
) -> list[ClusterTotal]:
    """Return the totals of each of these clusters, sorted by name.

    :param unreached: the clusters whose last refresh failed: without rows, their groups are unknown.
    :param partial: the clusters of which no refresh was complete so far.
    """
    of_cluster: dict[str, list[WatchRow]] = {name: [] for name in sorted(clusters)}
    for row in rows:
        of_cluster[row.cluster].append(row)
    return [
        (_part(name, found) if name in partial else _total(name, found))
        if found or name not in unreached
        else ClusterTotal(name)
        for name, found in of_cluster.items()
    ]


def _part(cluster: str, rows: list[WatchRow]) -> ClusterTotal:
    return ClusterTotal(cluster, known_lag=_total(cluster, rows).known_lag, stale=sum(row.stale for row in rows))


def _total(cluster: str, rows: list[WatchRow]) -> ClusterTotal:
    states = [row.state for row in rows]
    stable, empty = states.count(GroupState.STABLE), states.count(GroupState.EMPTY)
    rebalancing = sum(state in GroupState.REBALANCING for state in states)
    unknown = sum(row.total_lag is None for row in rows)
    lags = [(row.known_lag if row.total_lag is None else row.total_lag) or 0 for row in rows]
    severities = [row.status.severity for row in rows]
    return ClusterTotal(
        cluster,
        len(rows),
        stable,
        empty,
        rebalancing,
        len(rows) - stable - empty - rebalancing,
        sum(lag > 0 for lag in lags),
        None if unknown else sum(lags),
        sum(lags),
        unknown,
        sum(row.ahead for row in rows),
        sum(row.data_lost for row in rows),
        sum(row.stale for row in rows),
        severities.count(Severity.CRITICAL),
        severities.count(Severity.WARNING),
    )
