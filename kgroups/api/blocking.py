"""The same, waited for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from kgroups.admin.still_committing import WINDOW
from kgroups.config.settings import ClientSettings
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import Report
from kgroups.model.operations.reset import PlannedOffset, Scenario
from kgroups.model.operations.results import AppliedOffset, DeletedGroup
from kgroups.model.outcome import Outcome
from kgroups.model.views.lag_rows import LagRow
from kgroups.model.views.offset_row import OffsetRow

from .asynchronous import AsyncCluster

T = TypeVar("T")


class Cluster:
    """A cluster, for programs without an event loop, and for notebooks, which have one and do not await.

    Every method is that of :class:`kgroups.AsyncCluster`, and its documentation.
    """

    def __init__(
        self,
        bootstrap: str | None = None,
        *,
        command_config: str | os.PathLike[str] | None = None,
        properties: Mapping[str, str] | None = None,
        profile: str | None = None,
        timeout: float | None = None,
        broker_timeout: float | None = None,
        transport: str | None = None,
        config_providers: bool | None = None,
        max_requests_per_second: float | None = None,
    ) -> None:
        self._cluster = AsyncCluster(
            bootstrap,
            command_config=command_config,
            properties=properties,
            profile=profile,
            timeout=timeout,
            broker_timeout=broker_timeout,
            transport=transport,
            config_providers=config_providers,
            max_requests_per_second=max_requests_per_second,
        )

    @property
    def settings(self) -> ClientSettings:
        return self._cluster.settings

    def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[ListedGroup]:
        return _waited_for(self._cluster.list(states=states, types=types))

    def describe(
        self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False
    ) -> Outcome[Group]:
        return _waited_for(self._cluster.describe(*groups, regex=regex, topics=topics, all_groups=all_groups))

    def offsets(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
    ) -> Outcome[OffsetRow]:
        return _waited_for(
            self._cluster.offsets(
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
    ) -> Outcome[LagRow]:
        return _waited_for(
            self._cluster.lag(
                *groups, by=by, regex=regex, topics=topics, read_committed=read_committed, all_groups=all_groups
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
        return _waited_for(
            self._cluster.check(
                *groups, limits=limits, regex=regex, window=window, samples=samples, all_groups=all_groups
            )
        )

    def plan_reset(
        self,
        *groups: str,
        to: Scenario,
        topics: Iterable[str] | None = None,
        regex: str | None = None,
        all_groups: bool = False,
        create_group: bool = False,
    ) -> Outcome[PlannedOffset]:
        return _waited_for(
            self._cluster.plan_reset(
                *groups, to=to, topics=topics, regex=regex, all_groups=all_groups, create_group=create_group
            )
        )

    def apply(
        self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW
    ) -> Outcome[AppliedOffset]:
        return _waited_for(self._cluster.apply(plan, force=force, commit_window=commit_window))

    def delete(self, *groups: str, force: bool = False, commit_window: float = WINDOW) -> Outcome[DeletedGroup]:
        return _waited_for(self._cluster.delete(*groups, force=force, commit_window=commit_window))


def _waited_for(question: Coroutine[Any, Any, T]) -> T:
    """On a loop of its own; on a thread of its own where this one has a loop that runs."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(question)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, question).result()
