"""The names of topics, for whom a name is enough."""

from __future__ import annotations

from kgroups.config.settings import ClientSettings
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import Metadata


async def list_topics(settings: ClientSettings) -> list[str]:
    """All topics that we may see, internal ones too; always over the wire.

    :raises KgroupsError: when no broker tells.
    """
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        return sorted(entry.topic for entry in (await cluster.call_any(Metadata(None))).topics if entry.topic)
