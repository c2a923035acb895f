"""List the names of topics."""

from __future__ import annotations

from kgroups.config.settings import ClientSettings
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import Metadata


async def list_topics(settings: ClientSettings) -> list[str]:
    """Return the names of all visible topics, also internal ones; always over the wire client.

    :raises KgroupsError: if no broker returns them.
    """
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        return sorted(entry.topic for entry in (await cluster.call_any(Metadata(None))).topics if entry.topic)
