"""A wire client for callers without an event loop."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from kgroups.admin.loop_thread import LoopThread
from kgroups.admin.session import ClientSession
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError

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
        self._session = ClientSession(partial(WireClient.connect, settings))

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
                loop.run(self._session.close())
            finally:
                loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _answer(self, query: Callable[[WireClient], Awaitable[T]]) -> T:
        async with self._session.query(HistoryError) as client:  # such an error is found in complete responses
            return await query(client)
