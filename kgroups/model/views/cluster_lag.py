"""The lag of whole clusters: sums over the rows of their groups."""

from __future__ import annotations

from typing import NamedTuple

from ..counts import count
from ..outcome import Outcome, is_partial
from .lag_rows import GroupLagRow


class ClusterLagRow(NamedTuple):
    """The groups of one cluster.

    ``total_lag`` is ``None`` if the lag of a group is unknown; ``known_lag`` sums the rest. The counts do not include
    ``unknown_groups``: groups whose lag is unknown in part, or that cannot be described. If groups may be missing, only
    ``known_lag`` and ``listed``, the number of groups that were read, are known; the sum and the counts are ``None``.
    """

    cluster_id: str | None
    groups: int | None = None
    total_lag: int | None = None
    known_lag: int = 0
    max_lag: int | None = None
    max_group: str | None = None
    partitions: int | None = None
    behind: int | None = None
    lagging_groups: int | None = None
    unknown_groups: int | None = None
    uncommitted: int | None = None
    unknown: int | None = None
    ahead: int | None = None
    data_lost: int | None = None
    listed: int = 0
    note: str | None = None


def cluster_row(cluster_id: str | None, outcome: Outcome[GroupLagRow]) -> ClusterLagRow:
    groups = outcome.items
    unknown = [row for row in groups if row.total_lag is None]
    largest = max(groups, key=lambda row: -1 if row.max_lag is None else row.max_lag, default=None)

    def total(field: str) -> int:
        return sum(getattr(row, field) or 0 for row in groups)

    known = sum((row.known_lag if row.total_lag is None else row.total_lag) or 0 for row in groups)
    if is_partial(outcome, {row.group for row in groups}):
        note = f"groups are missing: lag at least {known:,} in at least {count(len(groups), 'group')}"
        return ClusterLagRow(cluster_id, known_lag=known, listed=len(groups), note=note)
    return ClusterLagRow(
        cluster_id,
        len(groups),
        None if unknown else known,
        known,
        largest and largest.max_lag,
        largest.group if largest and largest.max_lag is not None else None,
        total("partitions"),
        total("behind"),
        sum(1 for row in groups if row.behind),
        len(unknown),
        total("uncommitted"),
        total("unknown"),
        total("ahead"),
        total("data_lost"),
        len(groups),
    )
