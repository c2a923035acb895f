"""Count the records in the dead-letter topics of share groups (KIP-1191, Kafka 4.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kgroups.errors import KgroupsError
from kgroups.model.outcome import Scope
from kgroups.net.cluster import Cluster

from ..query.log_offsets import fetch_logs


async def count_dead_letters(cluster: Cluster, topics: Collection[str]) -> Mapping[str, int | str]:
    """Return the number of offsets in the log of each topic, or why it is unknown. Errors are not raised."""
    if not topics:
        return {}
    try:
        metadata = (await cluster.refresh(topics)).topics
    except KgroupsError as error:
        return dict.fromkeys(topics, str(error))
    found: dict[str, int | str] = {
        entry.topic: entry.error.failure(Scope.TOPIC, entry.topic, api="Metadata").message
        for entry in metadata
        if entry.error
    }
    logs, _ = await fetch_logs(cluster, {entry.topic: list(entry.leaders) for entry in metadata if not entry.error})
    for (topic, number), reason in logs.holes.items():
        found.setdefault(topic, f"{topic}-{number}: {reason}")
    for topic, partitions in logs.offsets.items():
        found.setdefault(topic, sum((log.end or 0) - (log.start or 0) for log in partitions.values()))
    return found
