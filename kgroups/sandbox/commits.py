"""Commits by the million, made over the wire: what a history is measured and tested with."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError, SandboxError
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out
from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.keeper import CLIENT_ID
from kgroups.sandbox.load import LANES, TIMEOUT
from kgroups.sandbox.route import Route
from kgroups.sandbox.topics import create_topics
from kgroups.sandbox.wire.offset_commit import OffsetCommit

NOTED: Final = 20
"""Every so many-th commit request carries metadata, as some clients do."""


class Commits(NamedTuple):
    """So many groups that commit on so many partitions of one topic, so many times; nobody is in them."""

    groups: int
    partitions: int
    rounds: int
    topic: str = "commits"
    """Its name; the groups' begin with it."""

    @property
    def records(self) -> int:
        return self.groups * self.partitions * self.rounds

    def names(self) -> list[GroupId]:
        return [f"{self.topic}-{number:05}" for number in range(self.groups)]

    def offset(self, round_: int, partition: int) -> int:
        """What is committed in that round, counted from 0; it grows."""
        return 1000 * round_ + partition


def make_commits(sandbox: Sandbox, commits: Commits) -> None:
    """Makes them all, each group's in order.

    :raises SandboxError: when not all could be made.
    """
    try:
        asyncio.run(_make(sandbox.bootstrap, commits))
    except KgroupsError as error:
        raise SandboxError(f"not all commits could be made: {error}") from None


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
        route = await Route.to(cluster, names)
        made = await fan_out((name, _group(route, commits, name)) for name in names)
    for _, result in made:
        if isinstance(result, KgroupsError):
            raise result


async def _group(route: Route, commits: Commits, name: GroupId) -> None:
    for round_ in range(commits.rounds):
        offsets = {partition: commits.offset(round_, partition) for partition in range(commits.partitions)}
        note = "noted by a client" if round_ % NOTED == NOTED - 1 else ""
        if error := await route.call(name, OffsetCommit(name, {commits.topic: offsets}, metadata=note)):
            raise SandboxError(f"group {name}: OffsetCommit: {error.name}")
