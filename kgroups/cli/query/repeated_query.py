"""Run one query after another against a cluster, over the same connections while nothing fails."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.wire import open_client
from kgroups.errors import KgroupsError
from kgroups.model.outcome import Outcome
from kgroups.protocol.repeats import RepeatsByApi

from ..frame.options import ConnectionOptions
from ..frame.run_query import Query, print_exchange, print_notice

_RENEWAL = 1.0
"""Seconds for the first response over connections that were kept. Then the bootstrap servers are tried in parallel."""
_EVENTS = 3
"""Turns of the event loop in which it notices connections that were closed between two queries."""


class RepeatedQuery:
    """Runs queries on one event loop. Connections are kept after a query without failures."""

    def __init__(self, connection: ConnectionOptions, cluster: str = "") -> None:
        """Connect later, whenever a query needs a new connection.

        :param cluster: the name of one of several clusters.
        """
        if connection.fleet:
            self._open = partial(connection.fleet.open, cluster, debug=connection.debug)
        else:
            self._open = partial(_open, connection)
        self._admin: Client | None = None

    async def run(self, query: Query) -> Outcome[Any]:
        """Return the result of a query.

        :raises KgroupsError: if the cluster cannot be reached.
        """
        for _ in range(_EVENTS):
            await asyncio.sleep(0)
        done = False
        try:
            outcome = await query(await self._connected())
            done = not outcome.failures
            return outcome
        finally:
            if not done:
                await self.close()

    async def _connected(self) -> Client:
        """Return the kept admin, ready for another query, or a new one."""
        kept = self._admin
        if kept is not None and kept.cluster:
            try:
                async with asyncio.timeout(_RENEWAL):
                    await kept.cluster.renew()
                return kept
            except (KgroupsError, TimeoutError):
                pass
        await self.close()
        admin = await self._open()
        if admin.cluster:
            admin.cluster.repeats = RepeatsByApi()
        self._admin = admin
        return admin

    async def close(self) -> None:
        """Close the connections."""
        admin, self._admin = self._admin, None
        if admin is not None:
            await admin.close()


async def _open(connection: ConnectionOptions) -> Client:
    admin, _ = await open_client(connection.settings, print_exchange if connection.debug else None, print_notice)
    return admin
