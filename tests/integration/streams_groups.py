"""Streams groups for tests: a running application, and groups without members."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import Producer

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.streams import CHANGELOG, REPARTITION, start_streams
from kgroups.sandbox.topics import create_topics
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.asking import Answer, run_here
from tests.integration.streams_member import play_streams_group

TOPIC: Final = "streams-in"
PARTITIONS: Final = 3
RECORDS: Final = 30
"""In each partition."""

BUSY: Final = "streams-busy"
"""Two instances of one application, each with one thread; a standby replica of each stateful task."""
INTERNAL: Final = (f"{BUSY}-{REPARTITION}", f"{BUSY}-{CHANGELOG}")

IDLE: Final = ("streams-idle-1", "streams-idle-2")
"""Made by hand, and empty: 10, 11 and 12 are committed, and there is a changelog topic."""

_SECONDS: Final = 240.0


@dataclass(frozen=True)
class StreamsGroups:
    sandbox: Sandbox

    @classmethod
    def made(cls, sandbox: Sandbox) -> StreamsGroups:
        groups = cls(sandbox)
        asyncio.run(groups._create())
        producer = Producer({"bootstrap.servers": sandbox.bootstrap})
        for partition in range(PARTITIONS):
            for number in range(RECORDS):
                producer.produce(TOPIC, f"word-{number % 7}".encode(), partition=partition)
        assert not producer.flush(60)
        start_streams(sandbox, BUSY, [TOPIC], instances=2, standby=1, **{"client.tag.zone": "a"})
        groups.make_idle(*IDLE)
        groups._settle()
        return groups

    def ask(self, *words: str) -> Answer:
        return run_here(*words, bootstrap=self.sandbox.bootstrap)

    def make_idle(self, *names: str) -> None:
        """Makes streams groups that are empty, or puts them back to what they were."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: play_streams_group(self.sandbox.bootstrap, name, TOPIC), names))
        asyncio.run(self._commit(names))

    def committed(self, *names: str) -> dict[str, dict[tuple[str, int], int]]:
        found: dict[str, dict[tuple[str, int], int]] = {name: {} for name in names}
        for row in self.ask("describe", *names, "-o", "json").items:
            if row["current_offset"] is not None:
                found[row["group"]][row["topic"], row["partition"]] = row["current_offset"]
        return found

    def topics(self, *names: str) -> set[str]:
        """Those of them that exist, after all that was done before."""

        async def look() -> set[str]:
            cluster, _ = await Cluster.connect(self._settings)
            async with cluster:
                await all_is_heard(cluster)
                answer = await cluster.refresh(names)
            return {entry.topic for entry in answer.topics if not entry.error}

        return asyncio.run(look())

    @property
    def _settings(self) -> ClientSettings:
        return ClientSettings(parse_bootstrap(self.sandbox.bootstrap), timeout=_SECONDS, broker_timeout=60)

    async def _create(self) -> None:
        cluster, _ = await Cluster.connect(self._settings)
        async with cluster:
            await create_topics(cluster, {TOPIC: PARTITIONS})

    async def _commit(self, names: tuple[str, ...]) -> None:
        cluster, _ = await Cluster.connect(self._settings)
        async with cluster:
            route = await CoordinatorClient.to(cluster, names)
            for name in names:
                offsets: Mapping[str, Mapping[int, int]] = {TOPIC: {at: 10 + at for at in range(PARTITIONS)}}
                assert await route.call(name, OffsetCommit(name, offsets)) is None
            await all_is_heard(cluster)

    def _settle(self) -> None:
        """Until the application has read all, and each of its tasks is where it is to stay."""
        until = time.monotonic() + _SECONDS
        while not self._settled():
            assert time.monotonic() < until, self.ask("describe", BUSY, "--members").out + self.sandbox.log_tail(BUSY)
            time.sleep(0.3)

    def _settled(self) -> bool:
        members = self.ask("describe", BUSY, "--members", "-o", "json").items
        states = self.ask("describe", BUSY, "--state", "-o", "json").items
        read = self.ask("describe", BUSY, "-o", "json").items
        every = range(PARTITIONS)
        return (
            [(row["state"], row["members"]) for row in states] == [("Stable", 2)]
            and not any(row["reconciling"] or row["warmup_tasks"] for row in members)
            and _tasks(members, "active_tasks") == [(name, at) for name in ("0", "1") for at in every]
            and _tasks(members, "standby_tasks") == [("1", at) for at in every]
            and {row["current_offset"] for row in read if row["topic"] == TOPIC} == {RECORDS}
            and all(row["lag"] == 0 or not row["log_end_offset"] for row in read)
        )


def _tasks(members: Iterable[Mapping[str, Any]], kind: str) -> list[tuple[str, int]]:
    entries = (entry for row in members for entry in row[kind])
    return sorted((entry["subtopology"], partition) for entry in entries for partition in entry["partitions"])


async def all_is_heard(cluster: Cluster) -> None:
    """Until every broker has heard of all topics that are made or deleted by now: of another one it hears last."""
    await create_topics(cluster, {f"streams-heard-{uuid.uuid4()}": 1})
