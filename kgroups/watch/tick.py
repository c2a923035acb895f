"""One refresh of ``kgroups watch``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure
from kgroups.model.views.offset_row import GroupOffsets

from .state.cluster_totals import ClusterTotal, cluster_totals
from .state.watching import Watch, WatchRow


class Sampled(NamedTuple):
    """The groups of one cluster: their last offsets, and their samples."""

    offsets: Mapping[GroupId, GroupOffsets]
    watch: Watch


class Tick(NamedTuple):
    """One refresh: its number from 1, its time in milliseconds since 1970, and its result."""

    number: int
    at: int
    rows: Sequence[WatchRow]
    failures: tuple[Failure, ...]
    clusters: Mapping[str, Sampled]
    """The clusters by name; the name of the only one is empty."""
    notices: tuple[str, ...] = ()
    ids: Mapping[str, str | None] | None = None
    """The cluster IDs by name, if several clusters are watched."""
    slowed: float | None = None
    """The seconds until the next refresh begins, if CPU time extends the interval."""

    def totals(self) -> list[ClusterTotal]:
        """Return the totals of each of several clusters."""
        partial = {name for name, sampled in self.clusters.items() if sampled.watch.is_partial}
        return cluster_totals(self.rows, self.ids or (), {failure.cluster for failure in self.failures}, partial)
