"""Millions of commits, for tests and measurements of the history."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError, SandboxError
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out

from .cluster import Sandbox
from .coordinator_client import CoordinatorClient
from .heartbeater import CLIENT_ID
from .load import LANES, TIMEOUT
from .topics import create_topics
from .wire.offset_commit import OffsetCommit

NOTED: Final = 20
"""One in this many commit requests contains metadata, as from some clients."""


class Commits(NamedTuple):
    """Groups without members that commit repeatedly on the partitions of one topic."""

    groups: int
    partitions: int
    rounds: int
    topic: str = "commits"
    """The topic's name, and the prefix of the groups' names."""

    @property
    def records(self) -> int:
        return self.groups * self.partitions * self.rounds

    def names(self) -> list[GroupId]:
        return [f"{self.topic}-{number:05}" for number in range(self.groups)]

    def offset(self, round_: int, partition: int) -> int:
        """Return the offset that is committed in a round, counted from 0; it increases."""
        return 1000 * round_ + partition


def make_commits(sandbox: Sandbox, commits: Commits) -> None:
    """Commit all offsets, in order within each group.

    :raises SandboxError: when not all could be committed.
    """
    try:
        asyncio.run(_make(sandbox.bootstrap, commits))
    except KgroupsError as error:
        raise SandboxError(f"could not commit all offsets: {error}") from None


async def _make(bootstrap: str, commits: Commits) -> None:
    settings = ClientSettings(parse_bootstrap(bootstrap), timeout=TIMEOUT, broker_timeout=60, client_id=CLIENT_ID)
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        await create_topics(cluster, {commits.topic: commits.partitions})
    names = commits.names()
    await asyncio.gather(*(_lane(settings, commits, names[lane::LANES]) for lane in range(LANES)))


async def _lane(settings: ClientSettings, commits: Commits, names: list[GroupId]) -> None:
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        route = await CoordinatorClient.to(cluster, names)
        made = await fan_out((name, _group(route, commits, name)) for name in names)
    for _, result in made:
        if isinstance(result, KgroupsError):
            raise result


async def _group(route: CoordinatorClient, commits: Commits, name: GroupId) -> None:
    for round_ in range(commits.rounds):
        offsets = {partition: commits.offset(round_, partition) for partition in range(commits.partitions)}
        note = "noted by a client" if round_ % NOTED == NOTED - 1 else ""
        if error := await route.call(name, OffsetCommit(name, {commits.topic: offsets}, metadata=note)):
            raise SandboxError(f"group {name}: OffsetCommit: {error.name}")
