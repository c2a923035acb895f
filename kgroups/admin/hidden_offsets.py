"""Find committed offsets that brokers leave out of OffsetFetch for want of an ACL, before a group is deleted with them.

OffsetFetch returns only offsets on topics that the principal may DESCRIBE; DeleteGroups wants DELETE on the group only
and deletes them all. So whoever may not DESCRIBE every topic has to see the group's records, or has to say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kgroups.errors import KgroupsError
from kgroups.model.counts import count
from kgroups.model.groups import GroupId
from kgroups.model.operations.committing import Pair, RecentCommits
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import NOT_AUTHORIZED

from .recent_commits import recent_commits

PROBE = "kgroups.may-describe-every-topic"
"""A topic that does not exist: only a principal that may DESCRIBE every topic is told so."""

FLAG = "--including-hidden-offsets"
_SHOWN = 3

Seen = Mapping[GroupId, Mapping[Pair, object]]
"""Groups with the partitions on which offsets were found."""


class Lookups(Protocol):
    async def may_describe_every_topic(self) -> bool: ...

    async def all_commits(self, groups: tuple[GroupId, ...]) -> RecentCommits: ...


class WireLookups:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def may_describe_every_topic(self) -> bool:
        """``False`` also where the brokers do not answer: then it is not known."""
        try:
            (told,) = (await self._cluster.refresh((PROBE,))).topics
        except (KgroupsError, ValueError):
            return False
        return not (told.error and told.error.code in NOT_AUTHORIZED)

    async def all_commits(self, groups: tuple[GroupId, ...]) -> RecentCommits:
        return await recent_commits(self._cluster, groups, 0, everything=True)


async def hidden_offsets(lookups: Lookups, seen: Seen) -> dict[GroupId, Failure]:
    """Return why groups must not be deleted: offsets that are hidden, or that may be."""
    if not seen or await lookups.may_describe_every_topic():
        return {}
    there = await lookups.all_commits(tuple(seen))
    failures: dict[GroupId, Failure] = {}
    for group in seen:
        message = None
        if group in there.unread or group in there.since:
            why = there.unread.get(group, "its log is too long to be read whole")
            message = (
                "committed offsets on topics without permission DESCRIBE may be hidden, and would be deleted without "
                f"being in the undo file ({why}); grant DESCRIBE on all topics, or add {FLAG}"
            )
        elif hidden := sorted(there.made.get(group, {}).keys() - seen[group].keys()):
            names = ", ".join(f"{topic}-{partition}" for topic, partition in hidden[:_SHOWN])
            more = ", ..." if len(hidden) > _SHOWN else ""
            message = (
                f"{count(len(hidden), 'committed offset')} on topics without permission DESCRIBE would be deleted "
                f"without being in the undo file: {names}{more}; grant DESCRIBE on the topics, or add {FLAG}"
            )
        if message:
            failures[group] = Failure(Scope.GROUP, group, message)
    return failures
