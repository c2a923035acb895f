"""Check that a list of groups covers every coordinator: each partition of the offsets topic has one, its leader.

A broker that resigned as leader, and a new leader that has not begun to load the groups, list none of them, without an
error. Metadata does not show it: for up to 90 ms the metadata of all brokers names a new leader that has not begun
(measured with Kafka 4.3.1; all replicas may be in sync then). DescribeGroups does: a broker returns NOT_COORDINATOR or
COORDINATOR_LOAD_IN_PROGRESS for any group name on a partition whose groups it does not have, whether or not such a
group exists. Therefore ListGroups is sent between two such requests on the same connection, which the broker processes
in order: if it coordinates a partition before and after, it listed all groups of the partition. No round trip is added.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from kgroups.errors import BrokerUnavailable, DeadlineExceeded, KgroupsError, Reason
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Failure, Scope
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.protocol.apis import describe_groups, list_groups, metadata
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError

from .backoff import Backoff

PROBE = "kgroups-probe-"
"""The prefix of groups that are described only to check which partitions a broker coordinates."""

_ABSENT = Code.group_id_not_found
_NOT_AUTHORIZED = Code.group_authorization_failed


class Checked(NamedTuple):
    """Which partitions of the offsets topic a broker's list covers."""

    uncovered: Mapping[int, KafkaError] = MappingProxyType({})
    """Partitions that the list does not cover, with the error that shows it."""
    unproven: frozenset[int] = frozenset()
    """Partitions for which it is unknown."""
    lost: KgroupsError | None = None
    """The reason why the broker did not respond to the check."""


NO_CHECK = Checked()


@cache
def probes(partitions: int) -> tuple[GroupId, ...]:
    """Return a group name for each partition of an offsets topic with this many partitions. The groups need not exist.

    :returns: the names, by partition.
    """
    found: dict[int, GroupId] = {}
    number = 0
    while len(found) < partitions:
        name = f"{PROBE}{number}"
        found.setdefault(partition_of(name, partitions), name)
        number += 1
    return tuple(found[at] for at in range(partitions))


async def list_checked(
    cluster: Cluster, node: Node, call: list_groups.ListGroups, names: Mapping[GroupId, int]
) -> tuple[list_groups.GroupList, Checked]:
    """List a broker's groups, and check that it coordinates the partitions of the groups in ``names``.

    :param names: group name -> its partition.
    :raises KgroupsError: as :meth:`Cluster.call` does, if ListGroups itself fails.
    """
    if not names:
        return await cluster.call(node, call), NO_CHECK
    probe = describe_groups.DescribeGroups(tuple(names))
    before, listed, after = await asyncio.gather(
        _probe(cluster, node, probe), cluster.call(node, call), _probe(cluster, node, probe)
    )
    uncovered: dict[int, KafkaError] = {}
    unproven: set[int] = set()
    lost = next(
        (response for response in (before, after) if isinstance(response, BrokerUnavailable | DeadlineExceeded)), None
    )
    for response in (before, after):
        for name, partition in names.items():
            result = None if isinstance(response, KgroupsError) else response.get(name)
            if result is None or (isinstance(result, KafkaError) and result.code == _NOT_AUTHORIZED):
                unproven.add(partition)
            elif isinstance(result, KafkaError) and result.code != _ABSENT:
                uncovered[partition] = result
    return listed, Checked(uncovered, frozenset(unproven), lost)


async def _probe(
    cluster: Cluster, node: Node, probe: describe_groups.DescribeGroups
) -> Mapping[GroupId, describe_groups.ClassicGroup | KafkaError] | KgroupsError:
    try:
        return await cluster.call(node, probe)
    except KgroupsError as error:
        return error


class Coverage:
    """The partitions of the offsets topic that no list covers yet, and the brokers to list for them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._topic = _usable(cluster.topics.get(OFFSETS_TOPIC))
        """``None`` if it does not exist yet or cannot be seen without an ACL: then nothing can be checked."""
        self._uncovered: dict[int, Node | None] = {}
        """Partition -> the broker whose list did not cover it; ``None`` if the partition had no leader."""
        self._reasons: dict[int, KafkaError] = {}
        self._unproven: set[int] = set()
        self._failed: dict[Node, Failure] = {}
        """The brokers that failed."""
        self._backoff = Backoff.of(cluster)
        self._refreshed = 0

    async def begin(self) -> dict[Node, tuple[int, ...]]:
        """Return the brokers to list, with the partitions that each leads; all brokers if the leaders are unknown."""
        if OFFSETS_TOPIC not in self._cluster.topics:
            await self._refresh()
        topic = self._topic
        if not topic:
            return dict.fromkeys(sorted(self._cluster.nodes.values()), ())
        return self._leaders(topic, topic.leaders)

    def names(self, partitions: Iterable[int]) -> dict[GroupId, int]:
        """Return group names with which to check a broker's list, and the partition of each."""
        topic = self._topic
        return {probes(len(topic.leaders))[at]: at for at in partitions} if topic else {}

    def mark_listed(self, node: Node, partitions: Iterable[int], checked: Checked) -> None:
        """Record what a broker's list covers."""
        for partition in partitions:
            self._uncovered.pop(partition, None)
            self._reasons.pop(partition, None)
        self._uncovered.update(dict.fromkeys(checked.uncovered, node))
        self._reasons.update(checked.uncovered)
        self._unproven.update(checked.unproven)

    def mark_failed(self, node: Node, partitions: Iterable[int], failure: Failure) -> None:
        """Record that a broker failed: a failure, unless other brokers cover its partitions."""
        self._failed[node] = failure
        self._uncovered.update(dict.fromkeys(partitions, node))

    async def again(self) -> dict[Node, tuple[int, ...]]:
        """Wait for coordinators that move; return the brokers to list again, with the partitions that they lead now.

        Return none if all partitions are covered, or if the time is up.
        """
        if self._unproven:
            await self._compare_leaders()
        while self._uncovered and self._topic and await self._backoff.wait():
            if not await self._refresh():
                break
            if self._refreshed > 1:
                self._topic = await self._newest(self._topic)
            brokers = self._leaders(self._topic, sorted(self._uncovered))
            brokers = {node: partitions for node, partitions in brokers.items() if node not in self._failed}
            if brokers or not self._reasons:
                return brokers
        return {}

    def failures(self) -> tuple[Failure, ...]:
        """Return what is missing in the lists: the brokers that failed, and the partitions that are still moving."""
        topic = self._topic
        if not topic:
            return tuple(failure for _, failure in sorted(self._failed.items()))
        leaderless = {at for at, leader in topic.leaders.items() if isinstance(leader, KafkaError)}
        left = {at: node for at, node in self._uncovered.items() if at not in leaderless}
        failures = [failure for node, failure in sorted(self._failed.items()) if node in left.values()]
        if moving := sorted(at for at, node in left.items() if node not in self._failed):
            reason = next((self._reasons[at] for at in moving if at in self._reasons), None)
            failures.append(_moving(moving, len(topic.leaders), reason))
        return (*failures, *missing_coordinators((topic,)))

    def _leaders(self, topic: TopicLeaders, partitions: Iterable[int]) -> dict[Node, tuple[int, ...]]:
        """Group partitions by their leaders; partitions without a leader become uncovered."""
        brokers: dict[Node, tuple[int, ...]] = {}
        for partition in partitions:
            leader = topic.leaders.get(partition)
            node = self._cluster.nodes.get(leader) if isinstance(leader, int) else None
            if node:
                brokers[node] = (*brokers.get(node, ()), partition)
            else:
                self._uncovered[partition] = None
        return dict(sorted(brokers.items()))

    async def _compare_leaders(self) -> None:
        """Mark unproven partitions as uncovered if their leaders have changed since the brokers were chosen."""
        unproven, self._unproven = self._unproven, set()
        old = self._topic
        await self._refresh()
        new = self._topic
        if old and new:
            for at in unproven:
                if (old.leaders.get(at), old.epochs.get(at)) != (new.leaders.get(at), new.epochs.get(at)):
                    self._uncovered[at] = None
                    self._reasons[at] = KafkaError(Code.not_coordinator, "")

    async def _refresh(self) -> bool:
        try:
            response = await self._cluster.refresh((OFFSETS_TOPIC,))
        except KgroupsError:
            return False
        self._refreshed += 1
        # A broker that does not know the topic yet reports nothing new.
        self._topic = next((entry for entry in map(_usable, response.topics) if entry), self._topic)
        return True

    async def _newest(self, topic: TopicLeaders) -> TopicLeaders:
        """Take the leader of each partition with the newest epoch from all brokers: the metadata of one may be old."""
        call = metadata.Metadata((OFFSETS_TOPIC,))
        nodes = [node for node in self._cluster.nodes.values() if self._cluster.reachable(node)]
        leaders, epochs = dict(topic.leaders), dict(topic.epochs)
        for _, response in await fan_out((node, self._cluster.call(node, call)) for node in nodes):
            for entry in () if isinstance(response, KgroupsError) else filter(None, map(_usable, response.topics)):
                newer = {at for at, epoch in entry.epochs.items() if epoch > epochs.get(at, -1)}
                leaders.update({at: entry.leaders[at] for at in newer})
                epochs.update({at: entry.epochs[at] for at in newer})
        return topic._replace(leaders=leaders, epochs=epochs)


def _usable(topic: TopicLeaders | None) -> TopicLeaders | None:
    return topic if topic and topic.topic == OFFSETS_TOPIC and not topic.error and topic.leaders else None


def missing_coordinators(topics: Iterable[TopicLeaders]) -> tuple[Failure, ...]:
    """Return a failure if partitions of the offsets topic have no leader.

    The groups of such a partition have no coordinator, and brokers omit them from their lists without an error.
    """
    for topic in topics:
        if topic.topic == OFFSETS_TOPIC and not topic.error:
            leaderless = sorted(index for index, leader in topic.leaders.items() if isinstance(leader, KafkaError))
            if leaderless:
                message = (
                    f"{len(leaderless)} of {len(topic.leaders)} partitions have no leader: the groups on them have no "
                    f"coordinator and are not listed (partitions {', '.join(map(str, leaderless))})"
                )
                return (
                    Failure(
                        Scope.TOPIC,
                        OFFSETS_TOPIC,
                        message,
                        "LEADER_NOT_AVAILABLE",
                        5,
                        "Metadata",
                        reason=Reason.LEADER_UNAVAILABLE,
                    ),
                )
    return ()


def _moving(partitions: Collection[int], of: int, reason: KafkaError | None) -> Failure:
    message = (
        f"{len(partitions)} of {of} partitions are moving to another broker, and no broker lists their groups yet; "
        f"groups may be missing (partitions {', '.join(map(str, partitions))}); run the command again"
    )
    error, code = (reason.name, int(reason.code)) if reason else (None, None)
    return Failure(
        Scope.TOPIC, OFFSETS_TOPIC, message, error, code, list_groups.API.name, reason=Reason.COORDINATOR_UNAVAILABLE
    )
