"""Share groups (KIP-932) on a real cluster, Kafka 4.1 and newer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.alter_share_group_offsets import NOWHERE
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.share import Starts, start_share_consumers, start_share_groups
from kgroups.sandbox.topics import create_topics, delete_topic, fill
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.asking import Answer, run_here

LOG: Final = "sharers-log"
"""Partition 0 from 0 to 20, partition 1 from 0 to 10, partition 2 empty."""
MORE: Final = "sharers-more"
"""One partition, from 0 to 7."""
GONE: Final = "sharers-gone"
"""Deleted after a group has started in it."""

RECORDS: Final = {LOG: {0: 20, 1: 10}, MORE: {0: 7}, GONE: {0: 5}}

LIVE: Final = "sharers-live"
"""Two console share consumers of Java's, which have read all of both topics."""
IDLE: Final = "sharers-idle"
"""Nobody; starts inside, at the end, and in one partition nowhere yet."""
AHEAD: Final = "sharers-ahead with a name, in which there are blanks"
"""Nobody; starts beyond the end of the log."""
BEREFT: Final = "sharers-bereft"
"""Nobody; one of its topics is deleted."""
CLASSIC: Final = "sharers-not"
"""No share group, but one that commits."""

STARTS: Final[Mapping[str, Starts]] = {
    LIVE: {LOG: {0: 0, 1: 0, 2: 0}, MORE: {0: 0}},
    IDLE: {LOG: {0: 5, 1: 10, 2: NOWHERE}, MORE: {0: 3}},
    AHEAD: {LOG: {0: 500}},
    BEREFT: {MORE: {0: 1}, GONE: {0: 2}},
}
SHARE: Final = tuple(STARTS)
_SETTLE: Final = 180.0


@dataclass(frozen=True)
class ShareGroups:
    sandbox: Sandbox

    @classmethod
    def made(cls, sandbox: Sandbox) -> ShareGroups:
        sharers = cls(sandbox)
        asyncio.run(sharers._create())
        fill(sandbox.bootstrap, RECORDS)
        asyncio.run(sharers._commit())
        sharers.start(STARTS)
        start_share_consumers(sandbox, LIVE, LOG, {name: name for name in (f"{LIVE}-0", f"{LIVE}-1")})
        delete_topic(sandbox.bootstrap, GONE)
        sharers.wait()
        return sharers

    async def _create(self) -> None:
        cluster, _ = await Cluster.connect(self._settings)
        async with cluster:
            await create_topics(cluster, {LOG: 3, MORE: 1, GONE: 1})

    async def _commit(self) -> None:
        cluster, _ = await Cluster.connect(self._settings)
        async with cluster:
            route = await CoordinatorClient.to(cluster, [CLASSIC])
            await _insist(lambda: route.call(CLASSIC, OffsetCommit(CLASSIC, {LOG: {0: 1}})))

    @property
    def _settings(self) -> ClientSettings:
        return ClientSettings(parse_bootstrap(self.sandbox.bootstrap), timeout=2 * _SETTLE, broker_timeout=60)

    def start(self, groups: Mapping[str, Starts]) -> None:
        """Create share groups without members, or change their offsets."""
        start_share_groups(self.sandbox, groups)

    def wait(self) -> None:
        """Until both consumers are there, and have read their topic."""
        until = time.monotonic() + _SETTLE
        while not self._settled():
            assert time.monotonic() < until, self.ask("describe", LIVE).out
            time.sleep(0.2)

    def _settled(self) -> bool:
        members = self.ask("describe", LIVE, "--members", "-o", "json").items
        held = {at for row in members for entry in row["current_assignment"] for at in entry["partitions"]}
        if len(members) != 2 or held != {0, 1, 2} or not all(row["partitions"] for row in members):
            return False
        lags = {row["partition"]: row["lag"] for row in self.rows(LIVE) if row["topic"] == LOG}
        return [lags.get(at) for at in RECORDS[LOG]] == [0, 0]

    def ask(self, *words: str) -> Answer:
        return run_here(*words, bootstrap=self.sandbox.bootstrap)

    def rows(self, *groups: str) -> list[dict[str, Any]]:
        return self.ask("describe", *groups, "-o", "json").items

    def starts(self, group: str) -> dict[tuple[str, int], int | None]:
        return {(row["topic"], row["partition"]): row["start_offset"] for row in self.rows(group)}


async def _insist(ask: Callable[[], Awaitable[object]]) -> None:
    """Until nothing is wrong: a coordinator hears of new topics, and of its own partitions, a little later."""
    until = time.monotonic() + _SETTLE
    while wrong := await ask():
        assert time.monotonic() < until, wrong
        await asyncio.sleep(0.1)
