"""The Python API for several clusters."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, Unpack

from kgroups.admin.client import Client
from kgroups.admin.fleet import Fleet, Member, Progress, Query, query_clusters, wanted_of
from kgroups.admin.query.select_groups import Selection
from kgroups.config.flags import TIMEOUT, Flags
from kgroups.config.fleet import select_profiles
from kgroups.config.load import load_profile
from kgroups.config.settings import ClientSettings
from kgroups.errors import UsageError
from kgroups.model import outcome as model
from kgroups.model.clusters import ClusterAnswer, distinct, merge_clusters
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import Report, merge_reports
from kgroups.model.health.sampling import Sampling
from kgroups.model.views.lag_rows import LagRow
from kgroups.model.views.offset_row import OffsetRow

from . import arguments
from .arguments import GroupFilters
from .items import InCluster
from .outcome import Outcome
from .queries import Queries, complete, sample_of

_LOG = logging.getLogger("kgroups")

T = TypeVar("T")


class AsyncFleet:
    """Several Kafka clusters, for programs with an event loop.

    Each call queries all clusters at the same time. A cluster that fails is a failure of the outcome, with its profile
    in ``cluster``; the items of the others are complete. The settings and passwords of a profile are read when its
    cluster is queried, and are used for no other cluster. A cluster of two profiles is queried once.

    Items are pairs: ``cluster``, the profile, and ``item``, what the method of :class:`AsyncCluster` returns.

    Args:
        *profiles: Profiles of the configuration file, globs, ``@tags``, and sets; ``*`` for all. ``!`` removes.
        timeout: Seconds for one call. Default: 30.
        cluster_timeout: Seconds for each cluster. Default: ``timeout``.

    Attributes:
        profiles: The names of the selected profiles.

    Raises:
        UsageError: If an argument is invalid, or selects no profile.
        ConfigError: If the configuration file is invalid.

    Example:
        >>> for cluster, row in await AsyncFleet("eu-*").lag("orders"):
        ...     print(cluster, row.group, row.total_lag)
    """

    def __init__(self, *profiles: str, timeout: float | None = None, cluster_timeout: float | None = None) -> None:
        if not profiles:
            raise UsageError('no profiles are given; "*" selects all')
        for each in profiles:
            arguments.text("profiles", each)
        self.profiles = select_profiles(profiles, os.environ, "profiles")
        self._timeout: float = arguments.seconds("timeout", timeout) or TIMEOUT
        self._cluster_timeout = min(
            arguments.seconds("cluster_timeout", cluster_timeout) or self._timeout, self._timeout
        )

    async def list(
        self,
        *,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        exclude: str | None = None,
        hosts: Iterable[str] = (),
        client_ids: Iterable[str] = (),
        coordinators: Iterable[str | int] = (),
    ) -> Outcome[InCluster[ListedGroup]]:
        """List groups of every type, sorted by cluster and group ID.

        Args:
            states: Only groups in one of these states, such as ``Empty``.
            types: Only groups of one of these types, such as ``Consumer``.
            exclude: As in :class:`GroupFilters`.
            hosts: As in :class:`GroupFilters`.
            client_ids: As in :class:`GroupFilters`.
            coordinators: As in :class:`GroupFilters`.

        Returns:
            One pair for each group: the cluster, and an item of :meth:`AsyncCluster.list`.

        Raises:
            UsageError: If a state or type is unknown.

        Example:
            >>> [(cluster, each.group) for cluster, each in await fleet.list()]
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
        return await self._merged(lambda cluster: cluster.list(**given))

    async def describe(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        all_groups: bool = False,
        **filters: Unpack[GroupFilters],
    ) -> Outcome[InCluster[Group]]:
        """Describe groups: state, type, assignor, and members with their assignments.

        Args:
            *groups: Group IDs. A group that no cluster has is a failure.
            regex: RE2 regular expression that whole group IDs must match.
            topics: Only groups with committed offsets or assignments on one of these topics.
            all_groups: Select all groups.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            One pair for each group: the cluster, and an item of :meth:`AsyncCluster.describe`.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.

        Example:
            >>> [(cluster, each.state) for cluster, each in await fleet.describe("orders")]
        """
        given = arguments.filters(filters)
        selection = arguments.selection(groups, regex, topics, all_groups, given)
        return await self._merged(
            lambda cluster: cluster.describe(
                *groups, regex=regex, topics=selection.topics, all_groups=all_groups, **given
            ),
            selection,
        )

    async def offsets(
        self,
        *groups: str,
        regex: str | None = None,
        topics: Iterable[str] = (),
        read_committed: bool = False,
        all_groups: bool = False,
        **filters: Unpack[GroupFilters],
    ) -> Outcome[InCluster[OffsetRow]]:
        """Return the committed offset, log start and end offset, lag, and member of each partition.

        Args:
            *groups: Group IDs. A group that no cluster has is a failure.
            regex: RE2 regular expression that whole group IDs must match.
            topics: Only groups with committed offsets or assignments on these topics, and only their offsets on them.
            read_committed: Measure lag to the last stable offset, so that open transactions do not count.
            all_groups: Select all groups.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            One pair for each partition of each group: the cluster, and an item of :meth:`AsyncCluster.offsets`.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.

        Example:
            >>> [(cluster, row.topic, row.current_offset) for cluster, row in await fleet.offsets("orders")]
        """
        given = arguments.filters(filters)
        selection = arguments.selection(groups, regex, topics, all_groups, given)
        return await self._merged(
            lambda cluster: cluster.offsets(
                *groups,
                regex=regex,
                topics=selection.topics,
                read_committed=read_committed,
                all_groups=all_groups,
                **given,
            ),
            selection,
        )

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
    ) -> Outcome[InCluster[LagRow]]:
        """Return the lag of groups, in total or split.

        Args:
            *groups: Group IDs. A group that no cluster has is a failure. Default: all groups.
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
            Pairs: the cluster, and an item of :meth:`AsyncCluster.lag`.

        Raises:
            UsageError: If an argument is invalid.

        Example:
            >>> {cluster: row.total_lag for cluster, row in await fleet.lag("orders")}
        """
        given = arguments.filters(filters)
        selection = arguments.selection(groups, regex, topics, all_groups, given, all_by_default=True)
        arguments.split(by)
        return await self._merged(
            lambda cluster: cluster.lag(
                *groups,
                by=by,
                regex=regex,
                topics=selection.topics,
                read_committed=read_committed,
                all_groups=all_groups,
                time=time,
                headroom=headroom,
                exact=exact,
                **given,
            ),
            selection,
        )

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
            *groups: Group IDs. Each cluster must have each of them.
            limits: The limits, such as ``Limits(lag=Threshold(warning=100, critical=1000))``.
            regex: RE2 regular expression that whole group IDs must match.
            window: Seconds over which ``Limits(trend=True)`` observes the groups; the call takes that long.
            samples: Number of samples in that time, at least 2.
            all_groups: Select all groups.
            **filters: Only groups with these properties; see :class:`GroupFilters`.

        Returns:
            A report of all clusters; each finding has the name of its ``cluster``. A cluster that fails is UNKNOWN.

        Raises:
            UsageError: If no groups are selected, or an argument is invalid.

        Example:
            >>> report = await fleet.check("orders", limits=Limits(lag=Threshold(critical=1000)))
            >>> [(finding.cluster, finding.message) for finding in report.bad]
        """
        selection = arguments.selection(groups, regex, (), all_groups, arguments.filters(filters))
        samplings = {
            name: Sampling(
                arguments.limits(limits), (), arguments.seconds("window", window), arguments.samples(samples)
            )
            for name in self.profiles
        }
        sampled = samplings
        ids: dict[str, str | None] = {}
        for sample in next(iter(samplings.values())).planned():
            if not sampled:
                break
            await asyncio.sleep(sample.pause)
            query = partial(sample_of, selection, sample)
            answers, _ = distinct(await self._answers(dict.fromkeys(sampled, query).__getitem__, sampled))
            ids |= {each.cluster: each.cluster_id or ids.get(each.cluster) for each in answers}
            for each in answers:
                samplings[each.cluster].add(each.outcome)
            sampled = {each.cluster: samplings[each.cluster] for each in answers if not each.failed}
        await self._complete(sampled)
        now = int(time.time() * 1000)
        return merge_reports({name: samplings[name].report(now) for name in self.profiles if name in ids}, ids, now)

    async def _complete(self, samplings: Mapping[str, Sampling]) -> None:
        """Find out what the samples do not show; it is unknown for a cluster that does not respond any more."""
        from kgroups.admin.observe import questions_of

        asked = {name: questions_of(sampling) for name, sampling in samplings.items()}
        asked = {name: questions for name, questions in asked.items() if questions.unproven or questions.static}
        queries = {name: partial(complete, samplings[name]) for name in asked}
        for each in await self._answers(queries.__getitem__, asked):
            if each.failed:
                samplings[each.cluster].learn(asked[each.cluster].unanswered(each.outcome.failures[0].message))

    async def _merged(
        self, ask: Callable[[Queries], Awaitable[Outcome[Any]]], selection: Selection | None = None
    ) -> Outcome[InCluster[Any]]:
        """Return the items of all clusters, each with the name of its cluster."""

        async def query(admin: Client) -> model.Outcome[Any]:
            found = await ask(_Connected(admin))
            return model.Outcome(found.items, found.failures, found.notices, found.missing_acls)

        answers = await self._answers(lambda _: query, self.profiles)
        merged, _ = merge_clusters(answers, InCluster, wanted_of(selection) if selection else frozenset())
        return Outcome.of(merged)

    async def _answers(self, query_of: Callable[[str], Query], profiles: Iterable[str]) -> Sequence[ClusterAnswer]:
        members = tuple(Member(name, partial(_load, name, self._timeout)) for name in profiles)
        clusters = Fleet(members, self._timeout, self._cluster_timeout)
        return await query_clusters(clusters, query_of, Progress(len(members)), tell=_LOG.warning)


def _load(profile: str, timeout: float) -> ClientSettings:
    loaded = load_profile(Flags(profile=profile, timeout=timeout), os.environ)
    for remark in loaded.warnings:
        _LOG.warning("%s: %s", profile, remark)
    return loaded.settings


class _Connected(Queries):
    """The questions to a cluster whose connections are open."""

    def __init__(self, admin: Client) -> None:
        self._admin = admin

    async def _ask(self, question: Callable[[Client], Awaitable[T]]) -> T:
        return await question(self._admin)
