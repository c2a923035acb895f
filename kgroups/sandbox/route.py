"""To the coordinator of each group, wherever it is now: members and committers speak through this."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, TypeVar

from kgroups.admin.routing.coordinators import Found, find_coordinators
from kgroups.admin.routing.pacing import Backoff
from kgroups.errors import BrokerUnavailable, SandboxError
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import BACK_OFF, MOVED, KafkaError

T = TypeVar("T")

WINDOW: Final = 32
"""Requests under way to one broker. It answers a connection's requests one after the other, and a JoinGroup only when
the rebalance is through: more would only wait in its queue."""


class Route:
    """Knows the coordinators of some groups; asks again where a group has moved."""

    def __init__(self, cluster: Cluster, found: Found) -> None:
        self._cluster = cluster
        self._coordinators, self._lost = found
        self._windows = {node.id: asyncio.Semaphore(WINDOW) for node in cluster.nodes.values()}

    @classmethod
    async def to(cls, cluster: Cluster, groups: Iterable[GroupId]) -> Route:
        """Waits for coordinators that are not there yet, no longer than the cluster's ``broker_timeout``."""
        return cls(cluster, await find_coordinators(cluster, groups))

    async def call(self, group: GroupId, call: Call[T]) -> T:
        """The coordinator's answer; an error only when it is about the call, not about where the group is.

        :raises SandboxError: when the group has no coordinator.
        """
        backoff = Backoff(self._cluster)
        while True:
            if group not in self._coordinators:
                raise SandboxError(f"group {group}: {self._lost[group].message}")
            node = self._coordinators[group]
            try:
                async with self._windows.setdefault(node.id, asyncio.Semaphore(WINDOW)):
                    answer = await self._cluster.call(node, call)
            except BrokerUnavailable as error:
                if not await backoff.wait():
                    raise SandboxError(f"group {group}: {error}") from None
            else:
                elsewhere = isinstance(answer, KafkaError) and (answer.code in MOVED or answer.code in BACK_OFF)
                if not elsewhere or not await backoff.wait():
                    return answer
            found, _ = await find_coordinators(self._cluster, [group])
            self._coordinators |= found
