"""The Python API for several clusters, for programs without an event loop."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.groups import Group, ListedGroup
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import Report
from kgroups.model.views.lag_rows import LagRow
from kgroups.model.views.offset_row import OffsetRow

from .blocking import document, run
from .fleet import AsyncFleet
from .in_cluster import InCluster
from .outcome import Outcome


class Fleet:
    def __init__(self, *profiles: str, timeout: float | None = None, cluster_timeout: float | None = None) -> None:
        self._fleet = AsyncFleet(*profiles, timeout=timeout, cluster_timeout=cluster_timeout)

    @property
    def profiles(self) -> tuple[str, ...]:
        return self._fleet.profiles

    def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[InCluster[ListedGroup]]:
        return run(self._fleet.list(states=states, types=types))

    def describe(
        self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False
    ) -> Outcome[InCluster[Group]]:
        return run(self._fleet.describe(*groups, regex=regex, topics=topics, all_groups=all_groups))

    def offsets(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
    ) -> Outcome[InCluster[OffsetRow]]:
        return run(
            self._fleet.offsets(
                *groups, regex=regex, topics=topics, read_committed=read_committed, all_groups=all_groups
            )
        )

    def lag(
        self,
        *groups: str,
        by: str = "group",
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        time: bool = False,
        headroom: bool = False,
        exact: bool = False,
    ) -> Outcome[InCluster[LagRow]]:
        return run(
            self._fleet.lag(
                *groups,
                by=by,
                regex=regex,
                topics=topics,
                read_committed=read_committed,
                all_groups=all_groups,
                time=time,
                headroom=headroom,
                exact=exact,
            )
        )

    def check(
        self,
        *groups: str,
        limits: Limits,
        regex: str | None = None,
        window: float = 30.0,
        samples: int = 3,
        all_groups: bool = False,
    ) -> Report:
        return run(
            self._fleet.check(
                *groups, limits=limits, regex=regex, window=window, samples=samples, all_groups=all_groups
            )
        )


document(Fleet, AsyncFleet, "Several Kafka clusters, for programs without an event loop, and for notebooks.")
