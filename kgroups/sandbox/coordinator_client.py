"""Send requests of members and commits to the current coordinator of each group."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, TypeVar

from kgroups.admin.routing.backoff import Backoff
from kgroups.admin.routing.coordinators import Found, find_coordinators
from kgroups.errors import BrokerUnavailable, SandboxError
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import BACK_OFF, MOVED, KafkaError

T = TypeVar("T")

WINDOW: Final = 32
"""Requests in flight to one broker. It handles a connection's requests one after the other, and responds to JoinGroup
only when the rebalance is complete: more would only wait in its queue."""


class CoordinatorClient:
    """The coordinators of some groups; looks them up again when a group has moved."""

    def __init__(self, cluster: Cluster, found: Found) -> None:
        self._cluster = cluster
        self._coordinators, self._lost = found
        self._windows = {node.id: asyncio.Semaphore(WINDOW) for node in cluster.nodes.values()}

    @classmethod
    async def to(cls, cluster: Cluster, groups: Iterable[GroupId]) -> CoordinatorClient:
        """Look up the coordinators; wait for unavailable ones, at most the cluster's ``broker_timeout``."""
        return cls(cluster, await find_coordinators(cluster, groups))

    async def call(self, group: GroupId, call: Call[T]) -> T:
        """Return the coordinator's response; retry while it is not the coordinator or not ready.

        :raises SandboxError: when the group has no coordinator.
        """
        backoff = Backoff.of(self._cluster)
        while True:
            if group not in self._coordinators:
                raise SandboxError(f"group {group}: {self._lost[group].message}")
            node = self._coordinators[group]
            try:
                async with self._windows.setdefault(node.id, asyncio.Semaphore(WINDOW)):
                    response = await self._cluster.call(node, call)
            except BrokerUnavailable as error:
                if not await backoff.wait():
                    raise SandboxError(f"group {group}: {error}") from None
            else:
                moved = isinstance(response, KafkaError) and (response.code in MOVED or response.code in BACK_OFF)
                if not moved or not await backoff.wait():
                    return response
            found, _ = await find_coordinators(self._cluster, [group])
            self._coordinators |= found
