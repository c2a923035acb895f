"""Where groups stand in their topics: what they have committed, OffsetFetch, many groups a request where the broker can
(KIP-709); of groups that commit nothing, what their kind has instead (see :mod:`.group_types`)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import GroupCommits
from kgroups.net.cluster import Cluster

from ..routing.query_coordinators import GroupResults, query_coordinators
from . import group_types
from .group_types.consumers import COMMITS
from .select_groups import ResolvedSelection


async def fetch_commits(cluster: Cluster, where: Mapping[GroupId, Node | None]) -> GroupResults[GroupCommits]:
    """The commits of groups, on every topic, asked of their coordinators."""
    return await query_coordinators(cluster, COMMITS, where)


async def fetch_offsets(cluster: Cluster, resolved: ResolvedSelection) -> GroupResults[GroupCommits]:
    """Where groups stand, asked as their listed kind wants it; one of unknown kind is taken for one that commits."""
    rare: dict[str, dict[GroupId, Node | None]] = {}
    for group in resolved.listed:
        if group.type in GroupType.WITHOUT_COMMITS:
            rare.setdefault(group.type, {})[group.group_id] = group.coordinator
    common, *others = await asyncio.gather(
        fetch_commits(cluster, resolved.with_commits()),
        *(query_coordinators(cluster, group_types.offsets_query_for(kind), where) for kind, where in rare.items()),
    )
    for other in others:
        _take(common, other)
    return common


async def refetch_offsets(
    cluster: Cluster, groups: Iterable[Group], named: Iterable[GroupId], found: GroupResults[GroupCommits]
) -> None:
    """Asks again about the named groups that were taken for what they are not, now that their kind is known."""
    names = frozenset(named)
    rare: dict[str, dict[GroupId, Node | None]] = {}
    for group in groups:
        if group.type in GroupType.WITHOUT_COMMITS and group.group_id in names:
            rare.setdefault(group.type, {})[group.group_id] = group.coordinator
    for kind, where in rare.items():
        _take(found, await query_coordinators(cluster, group_types.offsets_query_for(kind), where))


def _take(answers: GroupResults[GroupCommits], better: GroupResults[GroupCommits]) -> None:
    """What ``better`` says of its groups takes the place of what was said of them."""
    for name in (*better.found, *better.failed):
        answers.found.pop(name, None)
        answers.failed.pop(name, None)
    answers.found.update(better.found)
    answers.failed.update(better.failed)
