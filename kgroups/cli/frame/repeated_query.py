"""Run one query after another against a cluster, over the same connections while nothing fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kgroups.errors import KgroupsError

from .options import ConnectionOptions
from .run_query import Query, print_exchange, print_notice

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome

_RENEWAL = 1.0
"""Seconds for the first response over connections that were kept. Then the bootstrap servers are tried in parallel."""
_EVENTS = 3
"""Turns of the event loop in which it notices connections that were closed between two queries."""


class RepeatedQuery:
    """Runs queries, with an event loop of its own. Connections are kept after a query without failures."""

    def __init__(self, connection: ConnectionOptions) -> None:
        self._connection = connection
        self._runner = asyncio.Runner()
        self._admin: GroupAdmin | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self._close())
        finally:
            self._runner.close()

    def run(self, query: Query) -> Outcome[Any]:
        """Return the result of a query.

        :raises KgroupsError: if the cluster cannot be reached.
        """
        results: list[Outcome[Any]] = []  # appended, not returned: see :func:`.run_query.run_query`
        self._runner.run(self._run(query, results.append))
        return results[0]

    async def _run(self, query: Query, hand_over: Callable[[Outcome[Any]], None]) -> None:
        for _ in range(_EVENTS):
            await asyncio.sleep(0)
        done = False
        try:
            outcome = await query(await self._connected())
            done = not outcome.failures
            hand_over(outcome)
        finally:
            if not done:
                await self._close()

    async def _connected(self) -> GroupAdmin:
        """Return the kept admin, ready for another query, or a new one."""
        from kgroups.admin.open import open_admin
        from kgroups.admin.port import Renewable

        kept = self._admin
        if kept is not None and isinstance(kept, Renewable):
            try:
                async with asyncio.timeout(_RENEWAL):
                    await kept.renew()
                return kept
            except (KgroupsError, TimeoutError):
                pass
        await self._close()
        observer = print_exchange if self._connection.debug else None
        admin, _ = await open_admin(self._connection.settings, observer, print_notice)
        if isinstance(admin, Renewable):
            admin.remember()
        self._admin = admin
        return admin

    async def _close(self) -> None:
        admin, self._admin = self._admin, None
        if admin is not None:
            await admin.close()
