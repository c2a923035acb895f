"""The questions of the Python API, without changes: the same for a cluster, and for each of several."""

from __future__ import annotations

import asyncio
import time as clock
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Literal, TypeVar, Unpack, overload

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.topic_failures import topic_failures
from kgroups.model import outcome as model
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.health.findings import Sample, Seen
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import Report
from kgroups.model.health.sampling import Sampling
from kgroups.model.offsets import Isolation
from kgroups.model.views.lag_rows import GroupLagRow, LagRow, MemberLagRow, PartitionLagRow, TopicLagRow
from kgroups.model.views.lag_summary import Ages, Share, shares
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.offsets import offset_rows

from . import arguments
from .arguments import GroupFilters
from .outcome import Outcome

T = TypeVar("T")


class Queries(ABC):
    """The queries of one cluster. Subclasses open the connections."""

    @abstractmethod
    async def _ask(self, question: Callable[[Client], Awaitable[T]]) -> T: ...

    async def list(
        self,
        *,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        exclude: str | None = None,
        hosts: Iterable[str] = (),
        client_ids: Iterable[str] = (),
        coordinators: Iterable[str | int] = (),
    ) -> Outcome[ListedGroup]:
        """List groups of every type, sorted by group ID.

        Args:
            states: Only groups in one of these states, such as ``Empty``.
            types: Only groups of one of these types, such as ``Consumer``.
            exclude: As in :class:`GroupFilters`.
            hosts: As in :class:`GroupFilters`.
            client_ids: As in :class:`GroupFilters`.
            coordinators: As in :class:`GroupFilters`.

        Returns:
            One item for each group, with ``group``, ``type``, ``state``, and ``coordinator``.

        Raises:
            UsageError: If a state or type is unknown.
            KgroupsError: If no broker responds.

        Example:
            >>> [each.group for each in await cluster.list(states=["Empty"])]
        """
        given = arguments.filters(
            {
                "states": states,
                "types": types,
                "exclude": exclude,
                "hosts": hosts,
                "client_ids": client_ids,
                "coordinators": coordinators,
            }
        )
        selection = arguments.selection((), None, (), False, given, all_by_default=True)
        wanted = selection._replace(among=selection.among._replace(with_states=True, with_types=True))
        return Outcome.of(await self._ask(lambda admin: admin.list_selected(wanted)))

    async def describe(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        all_groups: bool = False,
        **filters: Unpack[GroupFilters],
    ) -> Outcome[Group]:
        """Describe groups: state, type, assignor, and members with their assignments.

        Args:
            *groups: Group IDs.
            regex: RE2 regular expression that whole group IDs must match.
            topics: Only groups with committed offsets or assignments on one of these topics.
            all_groups: Select all groups.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            One item for each group. A group that does not exist is a failure.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> [(each.group, each.state) for each in await cluster.describe(regex="orders-.*")]
        """
        selection = arguments.selection(groups, regex, topics, all_groups, arguments.filters(filters))

        async def question(admin: Client) -> model.Outcome[Group]:
            return await _with_topics(admin, selection, await admin.describe(selection))

        return Outcome.of(await self._ask(question))

    async def offsets(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        **filters: Unpack[GroupFilters],
    ) -> Outcome[OffsetRow]:
        """Return the committed offset, log start and end offset, lag, and member of each partition.

        Args:
            *groups: Group IDs.
            regex: RE2 regular expression that whole group IDs must match.
            topics: Only groups with committed offsets or assignments on these topics, and only their offsets on them.
            read_committed: Measure lag to the last stable offset, so that open transactions do not count.
            all_groups: Select all groups.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            One item for each partition of each group. An offset or lag that is unknown is None.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> [(row.topic, row.partition, row.current_offset) for row in await cluster.offsets("orders")]
        """
        selection = arguments.selection(groups, regex, topics, all_groups, arguments.filters(filters))
        level = _level(read_committed)

        async def question(admin: Client) -> model.Outcome[OffsetRow]:
            outcome = await admin.describe_offsets(selection, isolation=level)
            outcome = await _with_topics(admin, selection, outcome)
            return outcome.with_items(row for item in outcome.items for row in offset_rows(item))

        return Outcome.of(await self._ask(question))

    @overload
    async def lag(
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
        **filters: Unpack[GroupFilters],
    ) -> Outcome[GroupLagRow]: ...

    @overload
    async def lag(
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
        **filters: Unpack[GroupFilters],
    ) -> Outcome[TopicLagRow]: ...

    @overload
    async def lag(
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
        **filters: Unpack[GroupFilters],
    ) -> Outcome[PartitionLagRow]: ...

    @overload
    async def lag(
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
        **filters: Unpack[GroupFilters],
    ) -> Outcome[MemberLagRow]: ...

    @overload
    async def lag(
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
        **filters: Unpack[GroupFilters],
    ) -> Outcome[LagRow]: ...

    async def lag(
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
        **filters: Unpack[GroupFilters],
    ) -> Outcome[Any]:
        """Return the lag of groups, in total or split.

        Args:
            *groups: Group IDs. Default: all groups.
            by: ``group``, ``topic``, ``partition``, or ``member``: one item for each.
            regex: RE2 regular expression that whole group IDs must match.
            topics: Only groups with committed offsets or assignments on these topics, and only their lag on them.
            read_committed: Measure lag to the last stable offset, so that open transactions do not count.
            all_groups: Select all groups, as without any of these.
            time: Also set ``time_lag_ms``, the age of the first unread record. Reads records.
            headroom: Also set ``time_lag_ms``, ``headroom_by``, and ``headroom_ms`` and ``headroom_max_ms``, the time
                until retention deletes the first unread record. Reads records.
            exact: Also set ``time_lag_ms``, and ``unread_min`` and ``unread_max``, the number of unread records. Reads
                records.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            Items with ``total_lag``, which is None if the lag of one partition is unknown; ``known_lag`` is then the
            sum of the others. ``time_lag_ms`` and the other values that are read are None if they are unknown; ``note``
            has the reason. If there are no unread records, ``time_lag_ms`` is 0.

        Raises:
            UsageError: If an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> {row.topic: row.total_lag for row in await cluster.lag("orders", by="topic")}
        """
        given = arguments.filters(filters)
        selection = arguments.selection(groups, regex, topics, all_groups, given, all_by_default=True)
        level, split = _level(read_committed), arguments.split(by)
        reads = [
            arguments.flag(name, value) for name, value in (("time", time), ("headroom", headroom), ("exact", exact))
        ]

        async def question(admin: Client) -> model.Outcome[Any]:
            outcome = await admin.describe_offsets(selection, isolation=level, whole_topics=True)
            outcome = await _with_topics(admin, selection, outcome)
            found = [share for item in outcome.items for share in shares(item, split)]
            if not any(reads):
                return outcome.with_items(share.row() for share in found)
            now = int(clock.time() * 1000)
            ages, failures = await _read_ages(admin, found, now, isolation=level, headroom=headroom, exact=exact)
            return outcome.with_items(share.row(ages) for share in found).with_failures(failures)

        return Outcome.of(await self._ask(question))

    async def check(
        self,
        *groups: str,
        limits: Limits,
        regex: str | None = None,
        window: float = 30.0,
        samples: int = 3,
        all_groups: bool = False,
        **filters: Unpack[GroupFilters],
    ) -> Report:
        """Check groups against limits.

        Args:
            *groups: Group IDs.
            limits: The limits, such as ``Limits(lag=Threshold(warning=100, critical=1000))``.
            regex: RE2 regular expression that whole group IDs must match.
            window: Seconds over which ``Limits(trend=True)`` observes the groups; the call takes that long.
            samples: Number of samples in that time, at least 2.
            all_groups: Select all groups.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            A report with ``severity`` (the worst) and ``bad`` (findings that are not OK). What could not be determined
            is UNKNOWN, never OK.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.
            KgroupsError: If no broker responds.

        Example:
            >>> report = await cluster.check("orders", limits=Limits(lag=Threshold(critical=1000)))
            >>> [finding.message for finding in report.bad]
        """
        selection = arguments.selection(groups, regex, (), all_groups, arguments.filters(filters))
        sampling = Sampling(
            arguments.limits(limits), (), arguments.seconds("window", window), arguments.samples(samples)
        )
        for sample in sampling.planned():
            await asyncio.sleep(sample.pause)
            sampling.add(await self._ask(partial(sample_of, selection, sample)))
        await self._ask(partial(complete, sampling))
        return sampling.report(int(clock.time() * 1000))


async def _with_topics(admin: Client, selection: Selection, outcome: model.Outcome[T]) -> model.Outcome[T]:
    """Return the outcome with a failure for each selected topic that does not exist, as in commands."""
    return outcome.with_failures(await topic_failures(admin, selection, outcome) if selection.topics else ())


async def _read_ages(
    admin: Client, found: list[Share], now: int, **options: Any
) -> tuple[Ages, tuple[model.Failure, ...]]:
    from kgroups.admin.observe import read_ages

    return await read_ages(admin, found, now, **options)


async def sample_of(selection: Selection, sample: Sample, admin: Client) -> model.Outcome[Seen]:
    """Return a sample of the selected groups, for rules about their health."""
    from kgroups.admin.observe import observe

    return await observe(admin, selection, sample, isolation=Isolation.READ_UNCOMMITTED)


async def complete(sampling: Sampling, admin: Client) -> model.Outcome[Seen]:
    """Find out what the samples do not show."""
    from kgroups.admin.observe import answer, questions_of

    sampling.learn(await answer(admin, questions_of(sampling), isolation=Isolation.READ_UNCOMMITTED))
    return model.Outcome()


def _level(read_committed: bool) -> Isolation:
    arguments.flag("read_committed", read_committed)
    return Isolation.READ_COMMITTED if read_committed else Isolation.READ_UNCOMMITTED
