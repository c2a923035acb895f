"""The Python API for programs without an event loop."""

from __future__ import annotations

import os
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from kgroups.admin.loop_thread import LoopThread
from kgroups.admin.still_committing import WINDOW
from kgroups.config.settings import ClientSettings
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import Report
from kgroups.model.operations.reset import PlannedOffset, Scenario
from kgroups.model.operations.results import AppliedOffset, DeletedGroup
from kgroups.model.settings.change import AppliedSetting, PlannedSetting
from kgroups.model.settings.setting import SettingRow
from kgroups.model.snapshot.rows import SnapshotRow
from kgroups.model.views.lag_rows import GroupLagRow, LagRow, MemberLagRow, PartitionLagRow, TopicLagRow
from kgroups.model.views.offset_row import OffsetRow

from .asynchronous import AsyncCluster
from .deletion import PlannedDeletion
from .outcome import Outcome

T = TypeVar("T")


class Cluster:
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
        self._loop: LoopThread | None = None

    @property
    def settings(self) -> ClientSettings:
        return self._cluster.settings

    def __enter__(self) -> Self:
        self._loop = self._loop or LoopThread()
        self._loop.run(self._cluster.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            try:
                loop.run(self._cluster.__aexit__(kind, error, trace))
            finally:
                loop.close()

    def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[ListedGroup]:
        return self._waited_for(self._cluster.list(states=states, types=types))

    def describe(
        self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False
    ) -> Outcome[Group]:
        return self._waited_for(self._cluster.describe(*groups, regex=regex, topics=topics, all_groups=all_groups))

    def offsets(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
    ) -> Outcome[OffsetRow]:
        return self._waited_for(
            self._cluster.offsets(
                *groups, regex=regex, topics=topics, read_committed=read_committed, all_groups=all_groups
            )
        )

    @overload
    def lag(
        self,
        *groups: str,
        by: Literal["group"] = "group",
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        time: bool = False,
        headroom: bool = False,
        exact: bool = False,
    ) -> Outcome[GroupLagRow]: ...

    @overload
    def lag(
        self,
        *groups: str,
        by: Literal["topic"],
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        time: bool = False,
        headroom: bool = False,
        exact: bool = False,
    ) -> Outcome[TopicLagRow]: ...

    @overload
    def lag(
        self,
        *groups: str,
        by: Literal["partition"],
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        time: bool = False,
        headroom: bool = False,
        exact: bool = False,
    ) -> Outcome[PartitionLagRow]: ...

    @overload
    def lag(
        self,
        *groups: str,
        by: Literal["member"],
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        time: bool = False,
        headroom: bool = False,
        exact: bool = False,
    ) -> Outcome[MemberLagRow]: ...

    @overload
    def lag(
        self,
        *groups: str,
        by: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        time: bool = False,
        headroom: bool = False,
        exact: bool = False,
    ) -> Outcome[LagRow]: ...

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
    ) -> Outcome[Any]:
        return self._waited_for(
            self._cluster.lag(
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
        return self._waited_for(
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
        return self._waited_for(
            self._cluster.plan_reset(
                *groups, to=to, topics=topics, regex=regex, all_groups=all_groups, create_group=create_group
            )
        )

    def apply(
        self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW
    ) -> Outcome[AppliedOffset]:
        return self._waited_for(self._cluster.apply(plan, force=force, commit_window=commit_window))

    def plan_delete_offsets(
        self,
        *groups: str,
        topics: Iterable[str],
        regex: str | None = None,
        all_groups: bool = False,
    ) -> Outcome[PlannedOffset]:
        return self._waited_for(
            self._cluster.plan_delete_offsets(*groups, topics=topics, regex=regex, all_groups=all_groups)
        )

    def delete_offsets(
        self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW
    ) -> Outcome[AppliedOffset]:
        return self._waited_for(self._cluster.delete_offsets(plan, force=force, commit_window=commit_window))

    def plan_delete(self, *groups: str, regex: str | None = None, all_groups: bool = False) -> Outcome[PlannedDeletion]:
        return self._waited_for(self._cluster.plan_delete(*groups, regex=regex, all_groups=all_groups))

    def delete(
        self,
        *groups: str | PlannedDeletion,
        force: bool = False,
        commit_window: float = WINDOW,
        including_hidden_offsets: bool = False,
    ) -> Outcome[DeletedGroup]:
        return self._waited_for(
            self._cluster.delete(
                *groups, force=force, commit_window=commit_window, including_hidden_offsets=including_hidden_offsets
            )
        )

    def describe_settings(
        self,
        *groups: str,
        keys: Iterable[str] = (),
        overridden: bool = False,
        regex: str | None = None,
        all_groups: bool = False,
    ) -> Outcome[SettingRow]:
        return self._waited_for(
            self._cluster.describe_settings(
                *groups, keys=keys, overridden=overridden, regex=regex, all_groups=all_groups
            )
        )

    def plan_settings(
        self,
        *groups: str,
        values: Mapping[str, str | int | bool | None],
        regex: str | None = None,
        all_groups: bool = False,
    ) -> Outcome[PlannedSetting]:
        return self._waited_for(self._cluster.plan_settings(*groups, values=values, regex=regex, all_groups=all_groups))

    def plan_restore_settings(
        self, file: str | os.PathLike[str], *groups: str, exact: bool = False
    ) -> Outcome[PlannedSetting]:
        return self._waited_for(self._cluster.plan_restore_settings(file, *groups, exact=exact))

    def alter_settings(self, plan: Sequence[PlannedSetting]) -> Outcome[AppliedSetting]:
        return self._waited_for(self._cluster.alter_settings(plan))

    @overload
    def undo(self, change: Outcome[AppliedSetting], *, commit_window: float = WINDOW) -> Outcome[AppliedSetting]: ...

    @overload
    def undo(
        self, change: Outcome[AppliedOffset] | Outcome[DeletedGroup], *, commit_window: float = WINDOW
    ) -> Outcome[AppliedOffset]: ...

    def undo(self, change: Outcome[Any], *, commit_window: float = WINDOW) -> Outcome[Any]:
        return self._waited_for(self._cluster.undo(change, commit_window=commit_window))

    def save_snapshot(
        self,
        file: str | os.PathLike[str],
        *groups: str,
        topics: Iterable[str] = (),
        regex: str | None = None,
        all_groups: bool = False,
        records: bool = False,
        overwrite: bool = False,
    ) -> Outcome[SnapshotRow]:
        return self._waited_for(
            self._cluster.save_snapshot(
                file, *groups, topics=topics, regex=regex, all_groups=all_groups, records=records, overwrite=overwrite
            )
        )

    def plan_restore(
        self,
        file: str | os.PathLike[str],
        *groups: str,
        topics: Iterable[str] | None = None,
        create_group: bool = False,
        exact: bool = False,
    ) -> Outcome[PlannedOffset]:
        return self._waited_for(
            self._cluster.plan_restore(file, *groups, topics=topics, create_group=create_group, exact=exact)
        )

    def _waited_for(self, question: Coroutine[Any, Any, T]) -> T:
        if self._loop is not None:
            return self._loop.run(question)
        return run(question)


def run(question: Coroutine[Any, Any, T]) -> T:
    """Wait for the result, in an event loop of its own."""
    loop = LoopThread()
    try:
        return loop.run(question)
    finally:
        loop.close()


def _without_await(text: str) -> str:
    for awaited, waited_for in (("async with", "with"), ("await ", ""), ("Async", "")):
        text = text.replace(awaited, waited_for)
    return text


def document(blocking: type, asynchronous: type, first: str) -> None:
    """Document a class by the text of the methods that it waits for.

    :param first: the first line of its own text.
    """
    _, _, rest = (asynchronous.__doc__ or "").partition("\n")
    blocking.__doc__ = f"{first}\n{_without_await(rest)}"
    for name, method in vars(blocking).items():
        if callable(method) and not name.startswith("_"):
            method.__doc__ = _without_await(getattr(asynchronous, name).__doc__)


document(Cluster, AsyncCluster, "A Kafka cluster, for programs without an event loop, and for notebooks.")
