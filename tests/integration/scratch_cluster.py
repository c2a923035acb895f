"""Topics with records of known times, and groups that tests may change, with clients that join them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from confluent_kafka import Producer

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.groups import GroupId
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.member import Member, consumer, join
from kgroups.sandbox.topics import create_topics, delete_records
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.asking import Answer, run_here
from tests.integration.java_output import JavaTool, ToolOutput

LOG = "acts-log"
"""Partition 0 from 5 to 20, partition 1 from 0 to 10, partition 2 empty; a record a minute."""
LONG = "acts-log-with-a-name-that-is-longer-than-24-characters"
"""One partition, from 0 to 3."""

ENDS = {LOG: {0: 20, 1: 10}, LONG: {0: 3}}
MINUTE = 60_000

Offsets = Mapping[str, Mapping[int, int]]
Committed = dict[tuple[str, int], int]


@dataclass(frozen=True)
class ScratchCluster:
    sandbox: Sandbox
    began: int
    """Milliseconds since 1970 of every partition's record 0; an hour ago."""

    @classmethod
    def made(cls, sandbox: Sandbox) -> ScratchCluster:
        ground = cls(sandbox, (int(time.time()) // 60 - 60) * MINUTE)
        asyncio.run(ground._create())
        # Idempotent, or what is sent again may come behind what was written after it.
        producer = Producer({"bootstrap.servers": sandbox.bootstrap, "enable.idempotence": True})
        for topic, partitions in ENDS.items():
            for partition, end in partitions.items():
                for number in range(end):
                    at = ground.began + number * MINUTE
                    producer.produce(topic, b"%d" % number, partition=partition, timestamp=at)
        assert not producer.flush(60)
        delete_records(sandbox.bootstrap, {LOG: {0: 5}})
        return ground

    async def _create(self) -> None:
        cluster, _ = await Cluster.connect(self._settings)
        async with cluster:
            await create_topics(cluster, {LOG: 3, LONG: 1})

    @property
    def _settings(self) -> ClientSettings:
        return ClientSettings(parse_bootstrap(self.sandbox.bootstrap), timeout=60, broker_timeout=60)

    @property
    def version(self) -> str:
        return self.sandbox.version.name

    def since(self, release: str) -> bool:
        def numbers(text: str) -> tuple[int, ...]:
            return tuple(map(int, text.split(".")))

        return numbers(self.version) >= numbers(release)

    def moment(self, number: float) -> str:
        """The time of a record, as the Java tool takes it: no zone, which is UTC."""
        at = datetime.fromtimestamp((self.began + number * MINUTE) / 1000, UTC)
        return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}"

    def ago(self, number: float) -> str:
        """How long ago a record's time was, in whole seconds, as a duration."""
        minutes, seconds = divmod(int(time.time() - self.began / 1000 - number * 60), 60)
        return f"PT{minutes}M{seconds}S"

    def ask(self, *words: str) -> Answer:
        return run_here(*words, bootstrap=self.sandbox.bootstrap)

    def java(self, *words: str) -> ToolOutput:
        return JavaTool(self.version).ask(self.sandbox.bootstrap, *words)

    def commit(self, groups: Mapping[GroupId, Offsets]) -> None:
        """Create groups without members, or change their offsets."""

        async def made() -> None:
            cluster, _ = await Cluster.connect(self._settings)
            async with cluster:
                route = await CoordinatorClient.to(cluster, groups)
                for name, offsets in groups.items():
                    assert await route.call(name, OffsetCommit(name, offsets, metadata=f"of {name}")) is None

        asyncio.run(made())

    def committed(self, *groups: GroupId) -> dict[GroupId, Committed]:
        """What is committed, by group, topic and partition."""
        found: dict[GroupId, Committed] = {name: {} for name in groups}
        for row in self.ask("describe", *groups, "-o", "json").items:
            if row["current_offset"] is not None:
                found[row["group"]][row["topic"], row["partition"]] = row["current_offset"]
        return found

    def join(self, group: GroupId, topic: str = LOG) -> Member:
        """Join with a member that sends nothing for half an hour."""

        async def joined() -> Member:
            cluster, _ = await Cluster.connect(self._settings)
            async with cluster:
                return await join(
                    await CoordinatorClient.to(cluster, [group]), consumer(group, {topic: 3 if topic == LOG else 1})
                )

        return asyncio.run(joined())

    def leave(self, *groups: GroupId) -> None:
        """All members are gone (by Kafka 2.4 at the earliest)."""
        answer = self.ask("remove-members", *groups, "--all-members", "--execute", "--yes")
        assert answer.code == 0, answer.err
