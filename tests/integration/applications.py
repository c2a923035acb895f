"""Applications of Kafka Streams with the classic protocol: some that ran, and some that are made by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from typing import Final

from confluent_kafka import Producer

from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.streams import CHANGELOG, REPARTITION, start_streams
from kgroups.sandbox.topics import create_topics
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.streams_groups import StreamsGroups, all_is_heard

TOPICS: Final = {"resets-in": 3, "resets-more": 1}
"""What the applications read, and the numbers of partitions."""
RECORDS: Final = 30
"""In each partition."""
COMMITTED: Final = 10
"""What applications made by hand have committed on partition 0; one more on each next one."""

SUFFIXES: Final = (
    *("a-changelog", "b-repartition", "c-subscription-registration-topic", "d-subscription-response-topic"),
    *(f"KTABLE-FK-JOIN-SUBSCRIPTION-{kind}-0000000006-topic" for kind in ("REGISTRATION", "RESPONSE")),
)
"""The ends of the names of internal topics, of every kind."""
FOREIGN: Final = ("changelogs", "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-x-topic", "topic", "changelog-2")
"""The ends of names that are not those of internal topics."""

_SECONDS: Final = 240.0


class Applications(StreamsGroups):
    @classmethod
    def made(cls, sandbox: Sandbox) -> Applications:
        groups = cls(sandbox)
        groups._create_topics({**TOPICS, "other-a-changelog": 1})
        producer = Producer({"bootstrap.servers": sandbox.bootstrap})
        for topic, partitions in TOPICS.items():
            for partition in range(partitions):
                for number in range(RECORDS):
                    producer.produce(topic, f"word-{number % 7}".encode(), partition=partition)
        assert not producer.flush(60)
        return groups

    def run(self, *names: str) -> None:
        """Run applications until they have read everything; stop them. Their members stay: Streams does not leave."""
        settings = {"session.timeout.ms": "600000", "heartbeat.interval.ms": "1000", "max.poll.interval.ms": "900000"}
        started = {
            name: start_streams(self.sandbox, name, list(TOPICS), protocol="classic", **settings) for name in names
        }
        until = time.monotonic() + _SECONDS
        while not all(self._has_read(name) for name in names):
            assert time.monotonic() < until, "\n".join(map(self.sandbox.log_tail, names))
            time.sleep(0.3)
        for pid in started.values():
            self.sandbox.stop_helper(pid, grace=30.0)

    def _has_read(self, name: str) -> bool:
        read = self.committed(name)[name]
        wanted = {(topic, at): RECORDS for topic, partitions in TOPICS.items() for at in range(partitions)}
        counted = sum(offset for (topic, _), offset in read.items() if topic == f"{name}-{REPARTITION}")
        return wanted.items() <= read.items() and counted >= sum(wanted.values())

    def make_by_hand(self, *names: str) -> None:
        """Create applications without members, with topics of every kind, or put them back to what they were."""
        ends = (*SUFFIXES, *FOREIGN)
        wanted = {f"{name}-{end}" for name in names for end in ends}
        self._create_topics(dict.fromkeys(wanted - self.topics(*wanted), 1))
        asyncio.run(self._commit_on_inputs(names))

    def state_of(self, name: str) -> tuple[dict[tuple[str, int], int], set[str]]:
        """Return what is committed on topics that are not internal, and the ends of the names of existing topics."""
        ends = (*SUFFIXES, *FOREIGN, REPARTITION, CHANGELOG)
        committed = {pair: offset for pair, offset in self.committed(name)[name].items() if pair[0] in TOPICS}
        return committed, {topic.removeprefix(f"{name}-") for topic in self.topics(*(f"{name}-{end}" for end in ends))}

    def _create_topics(self, topics: Mapping[str, int]) -> None:
        async def create() -> None:
            cluster, _ = await Cluster.connect(self._settings)
            async with cluster:
                await create_topics(cluster, topics)
                await all_is_heard(cluster)

        asyncio.run(create())

    async def _commit_on_inputs(self, names: Iterable[str]) -> None:
        cluster, _ = await Cluster.connect(self._settings)
        async with cluster:
            route = await CoordinatorClient.to(cluster, tuple(names))
            for name in names:
                offsets = {
                    topic: {at: COMMITTED + at for at in range(partitions)} for topic, partitions in TOPICS.items()
                }
                assert await route.call(name, OffsetCommit(name, offsets)) is None
