"""Run one query after another against a cluster, over the same connections while nothing fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.session import ClientSession
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.run_query import Query, open_for_command
from kgroups.model.outcome import Outcome
from kgroups.protocol.repeats import RepeatsByApi


class RepeatedQuery:
    """Runs queries on one event loop. Connections are kept after a query without failures."""

    def __init__(self, connection: ConnectionOptions, cluster: str = "") -> None:
        """Connect later, whenever a query needs a new connection.

        :param cluster: the name of one of several clusters.
        """
        if connection.fleet:
            connect = partial(connection.fleet.open, cluster, debug=connection.debug)
        else:
            connect = partial(_open, connection)
        self._session = ClientSession(partial(_remembering, connect))

    async def run(self, query: Query) -> Outcome[Any]:
        """Return the result of a query.

        :raises KgroupsError: if the cluster cannot be reached.
        """
        async with self._session.query() as client:
            outcome = await query(client)
        if outcome.failures:
            await self.close()
        return outcome

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


async def _remembering(connect: Callable[[], Awaitable[Client]]) -> Client:
    """Connect; the client decodes only what changed since the last query."""
    client = await connect()
    if client.cluster:
        client.cluster.repeats = RepeatsByApi()
    return client


async def _open(connection: ConnectionOptions) -> Client:
    admin, _ = await open_for_command(connection.settings, debug=connection.debug)
    return admin
