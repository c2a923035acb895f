"""Fetch the committed offsets of groups, and the start offsets of share groups.

OffsetFetch takes many groups per request from v8 on (KIP-709). For groups without commits, see :mod:`.group_types`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TypeVar

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import GroupCommits
from kgroups.model.outcome import Outcome
from kgroups.model.permissions import HiddenTopics
from kgroups.net.cluster import Cluster

from ..routing.query_coordinators import GroupResults, query_coordinators
from . import group_types
from .group_types.consumers import COMMITS, STABLE_COMMITS
from .select_groups import ResolvedSelection, Selection

T = TypeVar("T")


async def fetch_commits(cluster: Cluster, where: Mapping[GroupId, Node | None]) -> GroupResults[GroupCommits]:
    """Fetch the commits of groups on all topics, and which of them open transactions are going to replace.

    Only groups of such transactions are requested twice.

    :param where: group -> its coordinator, ``None`` to look it up.
    """
    results = await query_coordinators(cluster, STABLE_COMMITS, where)
    unstable: dict[GroupId, Node | None] = {
        name: node for name, (node, commits) in results.found.items() if commits.pending
    }
    if unstable:
        # Before 4.0, a commit is unstable also until enough replicas have it: only an open transaction lasts.
        now, still = await asyncio.gather(
            query_coordinators(cluster, COMMITS, unstable), query_coordinators(cluster, STABLE_COMMITS, unstable)
        )
        _replace(results, now)
        for name, (node, commits) in now.found.items():
            if name in still.found:
                results.found[name] = (node, commits._replace(pending=still.found[name][1].pending))
    return results


async def fetch_offsets(cluster: Cluster, resolved: ResolvedSelection) -> GroupResults[GroupCommits]:
    """Fetch the offsets of groups with the API of their listed type; groups of unknown type are assumed to commit."""
    uncommon: dict[str, dict[GroupId, Node | None]] = {}
    for group in resolved.listed:
        if group.type in GroupType.WITHOUT_COMMITS:
            uncommon.setdefault(group.type, {})[group.group] = group.coordinator
    commits, *others = await asyncio.gather(
        fetch_commits(cluster, resolved.with_commits()),
        *(
            query_coordinators(cluster, group_types.offsets_query_for(group_type), where)
            for group_type, where in uncommon.items()
        ),
    )
    for other in others:
        _replace(commits, other)
    return commits


async def refetch_offsets(
    cluster: Cluster, groups: Iterable[Group], named: Iterable[GroupId], found: GroupResults[GroupCommits]
) -> None:
    """Fetch the offsets of named groups again with the right API, now that their types are known.

    :param found: the results to correct.
    """
    names = frozenset(named)
    uncommon: dict[str, dict[GroupId, Node | None]] = {}
    for group in groups:
        if group.type in GroupType.WITHOUT_COMMITS and group.group in names:
            uncommon.setdefault(group.type, {})[group.group] = group.coordinator
    for group_type, where in uncommon.items():
        _replace(found, await query_coordinators(cluster, group_types.offsets_query_for(group_type), where))


def _replace(results: GroupResults[GroupCommits], newer: GroupResults[GroupCommits]) -> None:
    """Replace the results of the groups that are in ``newer``."""
    for name in (*newer.found, *newer.failed):
        results.found.pop(name, None)
        results.failed.pop(name, None)
    results.found.update(newer.found)
    results.failed.update(newer.failed)


async def hidden_topics_of(cluster: Cluster, selected: frozenset[str]) -> HiddenTopics:
    """Return the topics among the selected ones, or among all, whose committed offsets brokers leave out."""
    hidden = cluster.rights.hidden
    if selected not in hidden:
        hidden[selected] = await find_hidden_topics(cluster, selected)
    return hidden[selected]


async def find_hidden_topics(cluster: Cluster, selected: frozenset[str] = frozenset()) -> HiddenTopics:
    """Return what :func:`hidden_topics_of` does, found now."""
    if not await checks_acls(cluster):
        return frozenset()  # the usual case: do not load the module
    from .authorization import hidden_topics, missing_acls

    return await hidden_topics(cluster, missing_acls(cluster.rights.operations), selected)


async def checks_acls(cluster: Cluster) -> bool:
    """Return whether brokers may check ACLs."""
    from kgroups.protocol.apis.describe_acls import authorizes

    rights = cluster.rights
    if rights.checks_acls is None:
        listed = rights.operations is None or "DESCRIBE" in rights.operations
        rights.checks_acls = not listed or await authorizes(cluster.call_any)
    return rights.checks_acls


async def note_missing_offsets(cluster: Cluster, selection: Selection, outcome: Outcome[T]) -> Outcome[T]:
    """Add a notice if committed offsets are or may be missing."""
    hidden = await hidden_topics_of(cluster, selection.topics)
    if not hidden:
        return outcome
    from .authorization import note_omitted_offsets

    return note_omitted_offsets(outcome, hidden)
