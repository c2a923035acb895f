"""Makes share groups (KIP-932) in a sandbox, and runs Java's console share consumers in them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import Final

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import SandboxError
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.alter_share_group_offsets import AlterShareGroupOffsets
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.partition_errors import PartitionErrors
from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.keeper import CLIENT_ID
from kgroups.sandbox.route import Route

Starts = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> start offset."""

_TIMEOUT: Final = 120.0
_POLL: Final = 0.1


def start_share_groups(sandbox: Sandbox, groups: Mapping[GroupId, Starts]) -> None:
    """Makes share groups that nobody is in and lets them start there, or moves them. Without this, a group starts at
    the end of the log.

    :raises SandboxError: when that is not done in two minutes.
    """
    asyncio.run(_start(sandbox, groups))


def start_share_consumers(sandbox: Sandbox, group: GroupId, topic: str, clients: Mapping[str, str]) -> None:
    """Starts consumers as helpers: role -> client id."""
    if sandbox.version.share_consumer is None:
        raise SandboxError(f"Kafka {sandbox.version.name} has no console share consumer; Kafka 4.1 has one")
    where = ("--bootstrap-server", sandbox.bootstrap, "--topic", topic, "--group", group)
    for role, client_id in clients.items():
        words = (*where, "--consumer-property", f"client.id={client_id}")
        sandbox.start_java(role, sandbox.version.share_consumer, *words)


async def _start(sandbox: Sandbox, groups: Mapping[GroupId, Starts]) -> None:
    until = time.monotonic() + _TIMEOUT
    settings = ClientSettings(
        parse_bootstrap(sandbox.bootstrap), client_id=CLIENT_ID, timeout=_TIMEOUT, broker_timeout=60
    )
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        route = await Route.to(cluster, groups)
        for name, topics in groups.items():
            starts = {topic: tuple(partitions.items()) for topic, partitions in topics.items()}
            ask = partial(route.call, name, AlterShareGroupOffsets(name, starts))
            # A coordinator hears of new topics, and of its own partitions, a little later.
            while wrong := _wrong((await ask())[name]):
                if time.monotonic() > until:
                    raise SandboxError(f"group {name}: AlterShareGroupOffsets: {wrong[0].name}")
                await asyncio.sleep(_POLL)


def _wrong(answer: PartitionErrors | KafkaError) -> list[KafkaError]:
    return [answer] if isinstance(answer, KafkaError) else [error for error in answer.values() if error]
