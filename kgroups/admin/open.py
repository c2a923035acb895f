"""Connect to a cluster over the requested transport, or over librdkafka if the wire client cannot serve it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import UnsupportedMechanism, UnsupportedVersion
from kgroups.net.connection import Observer

if TYPE_CHECKING:  # its imports take longer than a list
    from .port import GroupAdmin

OVER_LIBRDKAFKA = "waiting for librdkafka"


async def open_admin(
    settings: ClientSettings, observer: Observer | None = None, tell: Callable[[str], None] = lambda note: None
) -> tuple[GroupAdmin, object]:
    """Return a connected admin, and its progress, which ``str()`` shows at any time.

    :param observer: is called for every request of the wire client.
    :param tell: is called with a notice if librdkafka is used instead of the wire client.
    :raises KgroupsError: if the cluster cannot be reached, or rejects the client.
    """
    if settings.transport is Transport.WIRE:
        from .wire import WireAdmin

        try:
            admin = await WireAdmin.connect(settings, observer)
            return admin, admin.cluster.progress
        except (UnsupportedVersion, UnsupportedMechanism) as error:
            tell(f"{error}; using librdkafka instead, with one group per request")
    from .rdkafka.client import RdkafkaAdmin

    return await RdkafkaAdmin.connect(settings), OVER_LIBRDKAFKA
