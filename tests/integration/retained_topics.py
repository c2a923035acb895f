"""Topics with a retention, on real brokers, and a group with a commit on each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.wire.offset_commit import OffsetCommit

SECONDS = 60.0
"""For all that a broker does."""


def create(sandbox: Sandbox, topics: Mapping[str, Mapping[str, object]]) -> None:
    """Create topics with one partition each, name -> configuration."""
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 3})
    settings = {name: {key: str(value) for key, value in config.items()} for name, config in topics.items()}
    created = admin.create_topics([NewTopic(name, 1, 1, config=config) for name, config in settings.items()])
    for future in created.values():
        future.result(SECONDS)


def commit(sandbox: Sandbox, commits: Mapping[GroupId, tuple[str, int]]) -> None:
    """Commit an offset of partition 0 for each group: group -> topic and offset."""

    async def write() -> None:
        settings = ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=SECONDS, broker_timeout=SECONDS)
        cluster, _ = await Cluster.connect(settings)
        async with cluster:
            route = await CoordinatorClient.to(cluster, list(commits))
            for group, (topic, offset) in commits.items():
                assert await route.call(group, OffsetCommit(group, {topic: {0: offset}})) is None

    asyncio.run(write())


def remove(sandbox: Sandbox, names: list[str]) -> None:
    """Delete topics, and the groups of these names."""
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 3})
    for delete in (admin.delete_consumer_groups, admin.delete_topics):  # old brokers delete the groups with the topics
        for future in delete(names).values():
            future.result(SECONDS)


def bytes_of(sandbox: Sandbox, topics: Iterable[str]) -> dict[str, int]:
    """Return the size of the segments of partition 0 of each topic, on the disk of the only broker that has it."""
    return {topic: sum(file.stat().st_size for file in sandbox.folder.glob(f"**/{topic}-0/*.log")) for topic in topics}
