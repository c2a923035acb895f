"""Create share groups (KIP-932) in a sandbox, and run Java's console share consumers in them."""

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

from .cluster import Sandbox
from .coordinator_client import CoordinatorClient
from .heartbeater import CLIENT_ID

Starts = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> start offset."""

_TIMEOUT: Final = 120.0
_POLL: Final = 0.1


def start_share_groups(sandbox: Sandbox, groups: Mapping[GroupId, Starts]) -> None:
    """Set the start offsets of share groups without members, and create the groups if they do not exist.

    By default, a share group starts at the end of the log.

    :raises SandboxError: when it does not succeed in two minutes.
    """
    asyncio.run(_start(sandbox, groups))


def start_share_consumers(sandbox: Sandbox, group: GroupId, topic: str, clients: Mapping[str, str]) -> None:
    """Start consumers as helpers: role -> client ID."""
    if sandbox.version.share_consumer is None:
        raise SandboxError(f"Kafka {sandbox.version.name} has no console share consumer; it requires Kafka 4.1")
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
        route = await CoordinatorClient.to(cluster, groups)
        for name, topics in groups.items():
            starts = {topic: tuple(partitions.items()) for topic, partitions in topics.items()}
            ask = partial(route.call, name, AlterShareGroupOffsets(name, starts))
            # A coordinator learns of new topics, and of its own partitions, a little later.
            while errors := _errors((await ask())[name]):
                if time.monotonic() > until:
                    raise SandboxError(f"group {name}: AlterShareGroupOffsets: {errors[0].name}")
                await asyncio.sleep(_POLL)


def _errors(result: PartitionErrors | KafkaError) -> list[KafkaError]:
    return [result] if isinstance(result, KafkaError) else [error for error in result.values() if error]
