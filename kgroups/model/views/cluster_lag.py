"""The lag of whole clusters: sums over the rows of their groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .lag_rows import GroupLagRow


class ClusterLagRow(NamedTuple):
    """The groups of one cluster. ``total_lag`` is ``None`` if that of a group is unknown; ``known_lag`` sums the rest.

    The counts do not include ``unknown_groups``: those whose lag is unknown in part, or that cannot be described.
    """

    cluster_id: str | None
    groups: int
    total_lag: int | None
    known_lag: int
    max_lag: int | None
    max_group: str | None
    partitions: int
    behind: int
    lagging_groups: int
    unknown_groups: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int


def cluster_row(cluster_id: str | None, rows: Iterable[GroupLagRow]) -> ClusterLagRow:
    groups = list(rows)
    unknown = [row for row in groups if row.total_lag is None]
    largest = max(groups, key=lambda row: -1 if row.max_lag is None else row.max_lag, default=None)

    def total(field: str) -> int:
        return sum(getattr(row, field) or 0 for row in groups)

    known = sum((row.known_lag if row.total_lag is None else row.total_lag) or 0 for row in groups)
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
    )
