"""The connections to one cluster, for one query after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from kgroups.errors import KgroupsError

if TYPE_CHECKING:
    from .client import Client

C = TypeVar("C", bound="Client")

_EVENTS = 3
"""Turns of the event loop in which it notices connections that were closed between two queries."""
_IDLE = 180.0
"""Seconds without a query after which connections are not used any more: firewalls and load balancers forget idle
connections after four minutes, without closing them."""
_PATIENCE = 1.0
"""Seconds for the first response over connections that were kept. Then the bootstrap servers are tried in parallel."""


class ClientSession(Generic[C]):
    """A client that connects at the first query and is used for all further ones.

    Each query has the whole ``--timeout``, and contacts every broker again, also those that did not respond to the
    previous one. One query runs at a time.
    """

    def __init__(self, connect: Callable[[], Awaitable[C]]) -> None:
        """Connect later, whenever a query needs a new client.

        :param connect: returns a connected client.
        """
        self._connect = connect
        self._client: C | None = None
        self._used_at = 0.0

    @asynccontextmanager
    async def query(self, *harmless: type[Exception]) -> AsyncIterator[C]:
        """Enter with the client for one query; an error closes its connections: responses may still be on their way.

        :param harmless: errors that are raised when no response is awaited.
        :raises KgroupsError: if the cluster cannot be reached.
        """
        try:
            yield await self._ready()
            self._used_at = asyncio.get_running_loop().time()
        except harmless:
            self._used_at = asyncio.get_running_loop().time()
            raise
        except BaseException:
            await self.close()
            raise

    async def _ready(self) -> C:
        """Return the kept client, ready for another query, or a new one."""
        for _ in range(_EVENTS):
            await asyncio.sleep(0)
        kept = self._client
        if kept is not None and kept.cluster and asyncio.get_running_loop().time() < self._used_at + _IDLE:
            try:
                async with asyncio.timeout(_PATIENCE):
                    await kept.cluster.renew()
                return kept
            except (KgroupsError, TimeoutError):  # the connections are no longer usable
                pass
        await self.close()
        self._client = await self._connect()
        return self._client

    async def close(self) -> None:
        """Close the connections; the next query connects again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
