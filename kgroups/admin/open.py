"""The door to a cluster, over the transport that was asked for or the one that can serve."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import UnsupportedMechanism, UnsupportedVersion
from kgroups.net.connection import Observer

if TYPE_CHECKING:  # what it names is more than a list needs
    from .port import GroupAdmin

OVER_LIBRDKAFKA = "asking over librdkafka"


async def open_admin(
    settings: ClientSettings, observer: Observer | None = None, tell: Callable[[str], None] = lambda note: None
) -> tuple[GroupAdmin, object]:
    """A connected admin, and what tells how far it is (``str()`` of it, at any moment).

    :param observer: is told of every request of the wire client.
    :param tell: is given a remark for the user: that librdkafka has to serve.
    :raises KgroupsError: when the cluster cannot be reached, or refuses.
    """
    if settings.transport is Transport.WIRE:
        from .wire import WireAdmin

        try:
            admin = await WireAdmin.connect(settings, observer)
            return admin, admin.cluster.progress
        except (UnsupportedVersion, UnsupportedMechanism) as error:
            tell(f"{error}; going on over librdkafka, one group a request")
    from .rdkafka.client import RdkafkaAdmin

    return await RdkafkaAdmin.connect(settings), OVER_LIBRDKAFKA
