"""Two clusters between which a real MirrorMaker 2 copies every topic twice: renamed, and with its own name."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from confluent_kafka import Consumer, KafkaException, TopicPartition

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.groups import GroupId
from kgroups.model.offsets import PlanKey
from kgroups.model.translation.mirror_names import MirrorNames
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.jars import ensure_jars, ensure_mirror_jars
from kgroups.sandbox.java import run
from kgroups.sandbox.mirror import IDENTITY, start_mirror
from kgroups.sandbox.topics import create_topics
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.java_program import java_command
from tests.integration.real_worlds import NEW
from tests.integration.versions import MAIN

T = TypeVar("T")

RENAMED: Final = MirrorNames("A", "B", renames=True, on_target=False)
"""The flow with MirrorMaker 2's defaults: copies are named ``A.<topic>``; a sync every 100 records."""
SAME_NAME: Final = MirrorNames("S", "T", renames=False, on_target=True)
"""The other flow: IdentityReplicationPolicy, the syncs on the target, and one for each record (offset.lag.max=0).

MirrorMaker 2 has ten syncs in flight, and leaves out the others: of records that are copied at once, few have one."""
POLICIES: Final = {RENAMED: "org.apache.kafka.connect.mirror.DefaultReplicationPolicy", SAME_NAME: IDENTITY}

_PATIENCE: Final = 120.0
_QUIET: Final = 5.0
"""Seconds without a new record after which MirrorMaker 2 has written all of them; it looks for work every 2 s."""

Place = tuple[str, int]
"""Topic and partition."""


@dataclass
class MirroredClusters:
    source: Sandbox
    target: Sandbox
    pid: int
    """MirrorMaker 2's process, a helper of the target."""

    @classmethod
    @contextmanager
    def up(cls, properties: Mapping[str, str]) -> Iterator[MirroredClusters]:
        name = f"pytest-{os.getpid()}-mirror"
        with (
            Sandbox.up(MAIN, name=f"{name}-source", properties=properties) as source,
            Sandbox.up(MAIN, name=f"{name}-target", properties=properties) as target,
        ):
            yield cls(source, target, _start(source, target))

    def restart_mirror(self) -> None:
        """Kill MirrorMaker 2, and start it again: it copies again what it did not record as copied."""
        self.target.stop_helper(self.pid, grace=0)
        self.pid = _start(self.source, self.target)

    def create(self, topics: Mapping[str, int]) -> None:
        """Create topics on the source, with this many partitions."""
        self.ask(lambda source, _: create_topics(source, topics))

    def commit(self, groups: Mapping[GroupId, Mapping[str, Mapping[int, int]]]) -> None:
        """Commit offsets on the source: group -> topic -> partition -> offset."""

        async def commit(source: Cluster, _: Cluster) -> None:
            route = await CoordinatorClient.to(source, groups)
            for name, offsets in groups.items():
                assert await route.call(name, OffsetCommit(name, offsets)) is None

        self.ask(commit)

    def ask(self, question: Callable[[Cluster, Cluster], Awaitable[T]]) -> T:
        """Return what a query of both clusters returns."""

        async def asked() -> T:
            source, _ = await Cluster.connect(_settings(self.source))
            target, _ = await Cluster.connect(_settings(self.target))
            async with source, target:
                return await question(source, target)

        return asyncio.run(asked())

    def await_copies(self, records: Mapping[Place, int]) -> None:
        """Wait until both copies have this many different values, and nothing is written to MirrorMaker 2's topics."""
        until = time.monotonic() + _PATIENCE
        copies = {
            (names.copy_of(topic), partition): count
            for (topic, partition), count in records.items()
            for names in POLICIES
        }
        for place, count in copies.items():
            while len({value for _, value in self.records(self.target, place)}) < count:
                self.target.check_helpers()
                assert time.monotonic() < until, f"{place} has fewer than {count} values"
                time.sleep(0.5)
        before, quiet = -1, time.monotonic()
        while time.monotonic() < quiet + _QUIET:
            assert time.monotonic() < until, "MirrorMaker 2 does not stop to write"
            written = sum(self._ends())
            if written != before:
                before, quiet = written, time.monotonic()
            time.sleep(0.5)

    def records(self, sandbox: Sandbox, place: Place) -> list[tuple[int, bytes]]:
        """Return offset and value of all records of a partition; none if it does not exist, or was just created."""
        consumer = _consumer(sandbox)
        try:
            if place[0] not in consumer.list_topics(timeout=30).topics:
                return []
            at = TopicPartition(*place, 0)
            try:
                low, high = consumer.get_watermark_offsets(at, timeout=30)
            except KafkaException as error:
                if error.args[0].code() not in NEW:
                    raise
                return []
            consumer.assign([TopicPartition(*place, low)])
            found: list[tuple[int, bytes]] = []
            while consumer.position([at])[0].offset < high:
                for message in consumer.consume(1000, timeout=1):
                    assert message.error() is None
                    found.append((message.offset(), message.value()))
            return found
        finally:
            consumer.close()

    def remote_offsets(self, groups: Iterable[GroupId]) -> dict[MirrorNames, dict[PlanKey, int]]:
        """Return the results of RemoteClusterUtils: flow -> group, topic of the copy, and partition -> offset."""
        jars = ensure_jars(self.target.version), ensure_mirror_jars(self.target.version)
        flows = [f"{names.source}={policy}" for names, policy in POLICIES.items()]
        words = (self.target.bootstrap, ",".join(flows), *groups)
        done = run(java_command(Path(__file__).with_name("RemoteOffsets.java"), jars, *words))
        assert done.returncode == 0, done.stderr
        found: dict[MirrorNames, dict[PlanKey, int]] = {names: {} for names in POLICIES}
        by_alias = {names.source: found[names] for names in POLICIES}
        for line in done.stdout.splitlines():
            alias, group, topic, partition, offset = line.split("\t")
            by_alias[alias][group, topic, int(partition)] = int(offset)
        return found

    def _ends(self) -> Iterator[int]:
        for names in POLICIES:
            for sandbox, topic in (
                (self.target if names.on_target else self.source, names.syncs_topic()),
                (self.target, names.checkpoints_topic()),
            ):
                consumer = _consumer(sandbox)
                yield consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)[1]
                consumer.close()


def _start(source: Sandbox, target: Sandbox) -> int:
    flows: dict[tuple[str, str], dict[str, str]] = {}
    for names, policy in POLICIES.items():
        settings = {"replication.policy.class": policy}
        if names is SAME_NAME:
            settings |= {"offset.lag.max": "0", "offset-syncs.topic.location": "target"}
        flows[names.source or "", names.target or ""] = settings
    return start_mirror(source, target, flows)


def _settings(sandbox: Sandbox) -> ClientSettings:
    return ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=120, broker_timeout=60)


def _consumer(sandbox: Sandbox) -> Consumer:
    return Consumer(
        {"bootstrap.servers": sandbox.bootstrap, "group.id": "reader", "isolation.level": "read_uncommitted"}
    )
