"""A wire client for callers without an event loop."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

from kgroups.admin.loop_thread import LoopThread
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError, KgroupsError

T = TypeVar("T")


class WireSession:
    """The connections to one cluster: they open at the first query, and are used for all further ones.

    Each query has the ``timeout`` of the settings for itself, and contacts every broker again, also those that did not
    respond to the previous one. Queries of several threads take turns.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self._turn = threading.Lock()
        self._loop: LoopThread | None = None
        self._admin: WireClient | None = None

    def ask(self, query: Callable[[WireClient], Awaitable[T]]) -> T:
        """Return the result of a query.

        :raises ClusterUnreachable: if no bootstrap server responds.
        :raises KgroupsError: if the brokers cannot be used, or what the query raises; the next one connects again.
        """
        with self._turn:
            self._loop = self._loop or LoopThread()
            return self._loop.run(self._answer(query))

    def close(self) -> None:
        """Close all connections."""
        with self._turn:
            loop, self._loop = self._loop, None
            if loop is None:
                return
            try:
                if self._admin is not None:
                    loop.run(self._drop(self._admin))
            finally:
                loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _answer(self, query: Callable[[WireClient], Awaitable[T]]) -> T:
        admin = await self._connected()
        try:
            return await query(admin)
        except HistoryError:  # found in complete responses
            raise
        except BaseException:  # responses may still be on their way
            await self._drop(admin)
            raise

    async def _connected(self) -> WireClient:
        admin = self._admin
        if admin is not None:
            try:
                await admin.cluster.renew()
                return admin
            except KgroupsError:  # the connections are no longer usable
                await self._drop(admin)
        self._admin = await WireClient.connect(self.settings)
        return self._admin

    async def _drop(self, admin: WireClient) -> None:
        if self._admin is admin:
            self._admin = None
        await admin.close()
