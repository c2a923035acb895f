"""The Python API on real brokers: changes over kept connections, and their undo."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import Producer

from kgroups import Cluster, ShiftBy
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster as Brokers
from kgroups.sandbox.topics import create_topics
from tests.integration.scratch_cluster import ScratchCluster

TOPIC = "api-topic"
OFFSETS = {(TOPIC, 0): 30, (TOPIC, 1): 20}


def committed(cluster: Cluster, group: str) -> dict[tuple[str | None, int | None], int | None]:
    return {(row.topic, row.partition): row.current_offset for row in cluster.offsets(group)}


@pytest.fixture(scope="module")
def topic(scratch_cluster: ScratchCluster) -> str:
    async def create() -> None:
        settings = ClientSettings(parse_bootstrap(scratch_cluster.sandbox.bootstrap), timeout=60)
        brokers, _ = await Brokers.connect(settings)
        async with brokers:
            await create_topics(brokers, {TOPIC: len(OFFSETS)})

    asyncio.run(create())
    producer = Producer({"bootstrap.servers": scratch_cluster.sandbox.bootstrap})
    for _, partition in OFFSETS:
        for number in range(40):
            producer.produce(TOPIC, b"%d" % number, partition=partition)
    assert not producer.flush(60)
    return TOPIC


@pytest.fixture
def group(scratch_cluster: ScratchCluster, topic: str) -> str:
    name = "api-changes"
    scratch_cluster.commit({name: {topic: {partition: offset for (_, partition), offset in OFFSETS.items()}}})
    return name


@pytest.mark.parametrize("transport", ["wire", "librdkafka"])
def test_reset_and_undo_restore_offsets(scratch_cluster: ScratchCluster, group: str, transport: str) -> None:
    with Cluster(scratch_cluster.sandbox.bootstrap, transport=transport, timeout=60) as cluster:
        plan = cluster.plan_reset(group, to=ShiftBy(-5)).raise_for_failures()
        done = cluster.apply(plan.items, force=True).raise_for_failures()
        assert committed(cluster, group) == {key: offset - 5 for key, offset in OFFSETS.items()}
        cluster.undo(done).raise_for_failures()
        assert committed(cluster, group) == OFFSETS


def test_delete_and_undo_restore_the_group(scratch_cluster: ScratchCluster, group: str) -> None:
    with Cluster(scratch_cluster.sandbox.bootstrap, timeout=60) as cluster:
        plan = cluster.plan_delete(group).raise_for_failures()
        done = cluster.delete(*plan, force=True).raise_for_failures()
        assert group not in [each.group for each in cluster.list()]
        cluster.undo(done).raise_for_failures()
        assert committed(cluster, group) == OFFSETS
