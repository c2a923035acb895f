"""Create thousands of groups: half of them stable, with a member that stays, the others empty.

The committed offsets of each group follow from its number, so that tests and benchmarks know them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError, SandboxError
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.net.fanout import fan_out

from .cluster import Sandbox
from .coordinator_client import CoordinatorClient
from .heartbeater import CLIENT_ID, start_heartbeater
from .member import Member, consumer, join
from .seed_marker import seed_once
from .topics import create_topics, fill
from .wire.offset_commit import OffsetCommit

LANES: Final = 4
"""Connections to each broker: it handles the requests of a connection one after the other, each when its record is
written, so that a broker with one connection would mostly wait."""

TIMEOUT: Final = 900.0
_ROLE: Final = "load"


class Load(NamedTuple):
    """The groups to create, each with committed offsets on all partitions of one topic."""

    groups: int
    partitions: int
    topics: int = 10
    stable: float = 0.5
    """The fraction of the groups that have a member."""

    @property
    def stable_groups(self) -> int:
        return round(self.groups * self.stable)

    def names(self) -> Iterator[GroupId]:
        """Yield ``stable-00000``, ``stable-00001``, …, then ``empty-00000``, …."""
        yield from (f"stable-{number:05}" for number in range(self.stable_groups))
        yield from (f"empty-{number:05}" for number in range(self.groups - self.stable_groups))

    def topic_of(self, group: GroupId) -> str:
        return f"load-{_number(group) % self.topics}"

    def commits_of(self, group: GroupId) -> dict[int, int]:
        """Return partition -> committed offset, not beyond the end, with different lags."""
        number = _number(group)
        return {partition: (7 * number + 3 * partition) % (end + 1) for partition, end in self.ends().items()}

    def ends(self) -> dict[int, int]:
        """Return partition -> number of records, the same in every topic."""
        return {partition: 20 + partition % 10 for partition in range(self.partitions)}


def _number(group: GroupId) -> int:
    return int(group.rpartition("-")[2])


def seed_load(sandbox: Sandbox, load: Load, progress: Callable[[str], None] = lambda line: None) -> None:
    """Create the groups, and return when they are ready; their members stay until the sandbox is stopped.

    Do nothing if the same groups were created before.

    :raises SandboxError: when others were created before, or not all could be created.
    """

    def make() -> None:
        try:
            members = asyncio.run(_make(sandbox.bootstrap, load, progress))
        except KgroupsError as error:
            raise SandboxError(f"could not create all groups: {error}") from None
        if members:
            start_heartbeater(sandbox, _ROLE, members)

    if not seed_once(sandbox, _ROLE, load._asdict(), make):
        progress(f"sandbox {sandbox.name} already has these {load.groups:,} groups")


async def _make(bootstrap: str, load: Load, progress: Callable[[str], None]) -> list[Member]:
    """Create the groups, and return the members that need heartbeats from now on."""
    settings = ClientSettings(parse_bootstrap(bootstrap), timeout=TIMEOUT, broker_timeout=60, client_id=CLIENT_ID)
    topics = {f"load-{number}": load.partitions for number in range(load.topics)}
    began = time.monotonic()
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        await create_topics(cluster, topics)
    await asyncio.to_thread(fill, bootstrap, dict.fromkeys(topics, load.ends()))
    progress(f"{load.topics} topics of {load.partitions} partitions after {time.monotonic() - began:.1f} s")
    names = list(load.names())
    lanes = await asyncio.gather(*(_lane(settings, load, names[lane::LANES]) for lane in range(LANES)))
    progress(f"{load.groups:,} groups after {time.monotonic() - began:.1f} s")
    return [member for lane in lanes for member in lane]


async def _lane(settings: ClientSettings, load: Load, names: Sequence[GroupId]) -> list[Member]:
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        route = await CoordinatorClient.to(cluster, names)
        made: list[tuple[GroupId, Member | KgroupsError | None]] = await fan_out(
            (name, _group(route, load, name)) for name in names
        )
    for _, result in made:
        if isinstance(result, KgroupsError):
            raise result
    return [member for _, member in made if isinstance(member, Member)]


async def _group(route: CoordinatorClient, load: Load, name: GroupId) -> Member | None:
    """Create one group, and return its member if it has one."""
    topic = load.topic_of(name)
    offsets: Mapping[str, Mapping[int, int]] = {topic: load.commits_of(name)}
    member = None
    commit = OffsetCommit(name, offsets)
    if name.startswith("stable-"):
        member = await join(route, consumer(name, {topic: load.partitions}))
        commit = commit._replace(member_id=member.member_id, generation=member.generation)
    if error := await route.call(name, commit):
        raise SandboxError(f"group {name}: OffsetCommit: {error.name}")
    return member
