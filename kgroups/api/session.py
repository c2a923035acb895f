"""The connections of the Python API: kept inside a ``with`` block, otherwise opened for each call."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kgroups.admin.client import Client
from kgroups.admin.session import ClientSession
from kgroups.admin.wire import open_client
from kgroups.config.settings import ClientSettings
from kgroups.errors import UsageError

_LOG = logging.getLogger("kgroups")


class Session:
    """The connections to one cluster.

    Each call has a ``timeout`` of its own and contacts every broker again, also those that did not respond to the
    previous call. A call that is made while another one uses the kept connections opens its own.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._keeping = False
        self._busy = False
        self._kept = ClientSession(self._open)

    def keep(self) -> None:
        """Keep connections from now on."""
        self._keeping = True

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Client]:
        """Enter with a connected admin for one call.

        :raises KgroupsError: if the cluster cannot be reached.
        """
        if self._busy or not self._keeping:
            admin = await self._open()
            try:
                yield admin
            finally:
                await admin.close()
            return
        self._busy = True
        try:
            async with self._kept.query(UsageError) as admin:
                yield admin
        finally:
            self._busy = False

    async def close(self) -> None:
        """Close kept connections, and keep none from now on."""
        self._keeping = False
        await self._kept.close()

    async def _open(self) -> Client:
        admin, _ = await open_client(self._settings, tell=_LOG.warning)
        return admin
