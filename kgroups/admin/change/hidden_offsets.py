"""Find committed offsets that brokers leave out of OffsetFetch for want of an ACL, before a group is deleted with them.

OffsetFetch returns only offsets on topics that the principal may DESCRIBE; DeleteGroups wants DELETE on the group only
and deletes them all. A principal that may not DESCRIBE every topic must read the group's records, or confirm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from kgroups.errors import KgroupsError
from kgroups.model.counts import count
from kgroups.model.groups import GroupId
from kgroups.model.operations.committing import Pair, RecentCommits
from kgroups.model.outcome import Failure, Scope
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis.describe_log_dirs import DescribeLogDirs
from kgroups.protocol.error_codes import NOT_AUTHORIZED, KafkaError

from ..offsets_topic.recent_commits import recent_commits

_SHOWN = 3
_AT_ONCE = 2_000
"""Topics that are asked about in one request."""

Seen = Mapping[GroupId, Mapping[Pair, object]]
"""Groups with the partitions on which offsets were found."""


class Lookups(Protocol):
    async def hidden_topics(self) -> frozenset[str] | str:
        """Return the topics that exist and that we may not DESCRIBE, or why they are unknown."""

    async def all_commits(self, groups: tuple[GroupId, ...]) -> RecentCommits: ...


class WireLookups:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def hidden_topics(self) -> frozenset[str] | str:
        # DescribeLogDirs names topics whatever their ACLs. DescribeAcls would not do: our principal is unknown, other
        # authorizers list no ACLs, and with allow.everyone.if.no.acl.found another's ALLOW hides a topic from us too.
        names: set[str] = set()
        cluster = self._cluster
        for node, sizes in await fan_out(
            (node, cluster.call(node, DescribeLogDirs())) for node in cluster.nodes_by_health()
        ):
            if isinstance(sizes, KafkaError) and sizes.code in NOT_AUTHORIZED:
                return "listing all topics needs the ACL DESCRIBE on CLUSTER"
            if isinstance(sizes, KafkaError):
                return f"{node}: topics are not listed: {sizes.message}"
            if isinstance(sizes, KgroupsError):
                return f"topics are not listed: {sizes}"
            names.update(topic for topic, _ in sizes)
        hidden: set[str] = set()
        ordered = sorted(names)
        try:
            for at in range(0, len(ordered), _AT_ONCE):
                found = (await cluster.refresh(ordered[at : at + _AT_ONCE])).topics
                hidden.update(each.topic for each in found if each.error and each.error.code in NOT_AUTHORIZED)
        except KgroupsError as error:
            return f"topics are not described: {error}"
        return frozenset(hidden)

    async def all_commits(self, groups: tuple[GroupId, ...]) -> RecentCommits:
        return await recent_commits(self._cluster, groups, 0, everything=True)


async def hidden_offsets(lookups: Lookups, seen: Seen, way: str) -> dict[GroupId, Failure]:
    """Return why groups must not be deleted: offsets that are hidden, or that may be.

    :param way: how to delete them all the same: a flag or an argument.
    """
    topics = await lookups.hidden_topics() if seen else frozenset()
    if not topics:
        return {}
    there = await lookups.all_commits(tuple(seen))
    failures: dict[GroupId, Failure] = {}
    for group in seen:
        message = None
        if group in there.unread or group in there.since:
            message = _perhaps(topics, there.unread.get(group, "its log is too large to be read completely"), way)
        elif hidden := sorted(there.made.get(group, {}).keys() - seen[group].keys()):
            message = (
                f"{count(len(hidden), 'committed offset')} on topics without permission DESCRIBE would be deleted "
                f"without being in an undo file: {_some(f'{topic}-{partition}' for topic, partition in hidden)}; grant "
                f"DESCRIBE on the topics, or add {way}"
            )
        if message:
            failures[group] = Failure(Scope.GROUP, group, message)
    return failures


def _perhaps(topics: frozenset[str] | str, unread: str, way: str) -> str:
    """Say that offsets may be hidden.

    :param topics: those that are hidden, or why they are unknown.
    :param unread: why the group's records are unknown.
    """
    lost = "and would be deleted without being in an undo file"
    if isinstance(topics, str):
        return f"committed offsets may be hidden, {lost} ({topics}; {unread}); to delete the group anyway, add {way}"
    return (
        f"committed offsets on topics without permission DESCRIBE may be hidden, {lost} ({unread}): "
        f"{_some(sorted(topics))}; grant DESCRIBE on the topics, or add {way}"
    )


def _some(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")
