"""The Python API on real brokers: changes over kept connections, and their undo."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from confluent_kafka import Producer

from kgroups import Cluster, Commit, FromPlan, ShiftBy
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


def test_reset_and_undo_restore_offsets(scratch_cluster: ScratchCluster, group: str) -> None:
    with Cluster(scratch_cluster.sandbox.bootstrap, timeout=60) as cluster:
        plan = cluster.plan_reset(group, to=ShiftBy(-5)).raise_for_failures()
        done = cluster.apply(plan.items, force=True).raise_for_failures()
        assert committed(cluster, group) == {key: offset - 5 for key, offset in OFFSETS.items()}
        cluster.undo(done).raise_for_failures()
        assert committed(cluster, group) == OFFSETS


@pytest.mark.parametrize("by", ["group", "topic", "partition"])
def test_lag_reads_times_headroom_and_records(scratch_cluster: ScratchCluster, group: str, by: str) -> None:
    with Cluster(scratch_cluster.sandbox.bootstrap, timeout=60) as cluster:
        lag: Any = cluster.lag  # the fields depend on by=
        plain = lag(group, by=by).raise_for_failures()
        assert {(row.time_lag_ms, row.headroom_ms, row.unread_min) for row in plain} == {(None, None, None)}
        timed = lag(group, by=by, time=True).raise_for_failures()
        assert all(row.time_lag_ms > 0 and row.headroom_by is None for row in timed)
        kept = lag(group, by=by, headroom=True).raise_for_failures()
        assert all(row.time_lag_ms > 0 and row.headroom_by for row in kept), kept.items
        counted = lag(group, by=by, exact=True).raise_for_failures()
        assert all(
            row.unread_min == row.unread_max == (row.lag if by == "partition" else row.total_lag) for row in counted
        )
        assert [row._replace(time_lag_ms=None, unread_min=None, unread_max=None) for row in counted] == [*plain]


def test_reset_to_an_offset_for_each_partition(scratch_cluster: ScratchCluster, group: str, topic: str) -> None:
    with Cluster(scratch_cluster.sandbox.bootstrap, timeout=60) as cluster:
        wanted = FromPlan({(group, topic, 0): 11, (group, topic, 1): Commit(1, 12, metadata="m")})
        plan = cluster.plan_reset(group, to=wanted).raise_for_failures()
        assert [(each.partition, each.old, each.new) for each in plan] == [(0, 30, 11), (1, 20, 12)]
        cluster.apply(plan.items, force=True).raise_for_failures()
        assert committed(cluster, group) == {(topic, 0): 11, (topic, 1): 12}


def test_delete_and_undo_restore_the_group(scratch_cluster: ScratchCluster, group: str) -> None:
    with Cluster(scratch_cluster.sandbox.bootstrap, timeout=60) as cluster:
        plan = cluster.plan_delete(group).raise_for_failures()
        done = cluster.delete(*plan, force=True).raise_for_failures()
        assert group not in [each.group for each in cluster.list()]
        cluster.undo(done).raise_for_failures()
        assert committed(cluster, group) == OFFSETS
