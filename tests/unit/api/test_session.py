"""Connections of the Python API: kept inside ``with``, and used by every call there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from kgroups import AsyncCluster, Cluster, ClusterUnreachable
from tests.fakes.broker import FakeCluster, close
from tests.fakes.serving import serving


@pytest.fixture
def fake() -> Iterator[FakeCluster]:
    cluster = FakeCluster(2, "4.3.1")
    cluster.state.topic("orders", [0], start=5, end=100)
    cluster.state.group("a", 0, commits={("orders", 0): 60})
    cluster.state.group("b", 1, commits={("orders", 0): 60})
    with serving(cluster):
        yield cluster


def _bootstrap(fake: FakeCluster) -> str:
    return ",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())


def _accepted(fake: FakeCluster) -> int:
    return sum(broker.connections for broker in fake.brokers.values())


def test_session_keeps_connections(fake: FakeCluster) -> None:
    with Cluster(_bootstrap(fake)) as cluster:
        first = cluster.list()
        connections = _accepted(fake)
        for _ in range(3):
            assert cluster.list() == first
        assert _accepted(fake) == connections
    assert Cluster(_bootstrap(fake)).list() == first
    assert _accepted(fake) > connections


def test_async_session_keeps_connections_for_concurrent_calls(fake: FakeCluster) -> None:
    async def ask() -> None:
        async with AsyncCluster(_bootstrap(fake)) as cluster:
            first = await cluster.lag("a", "b")
            assert [await cluster.lag("a", "b")] * 3 == await asyncio.gather(*(cluster.lag("a", "b") for _ in range(3)))
            assert first == await cluster.lag("a", "b")

    asyncio.run(ask())


def test_session_sees_new_groups(fake: FakeCluster) -> None:
    with Cluster(_bootstrap(fake)) as cluster:
        assert [each.group for each in cluster.list()] == ["a", "b"]
        fake.state.group("c", 1, commits={("orders", 0): 60})
        assert [each.group for each in cluster.list()] == ["a", "b", "c"]


def test_session_reconnects_after_lost_connections(fake: FakeCluster) -> None:
    with Cluster(_bootstrap(fake)) as cluster:
        first = cluster.list()
        for broker in fake.brokers.values():
            broker.fault("*", close, times=1)
        assert cluster.list() == first


def test_session_starts_over_after_a_failure(fake: FakeCluster) -> None:
    with Cluster("127.0.0.1:1") as cluster:
        for _ in range(2):
            with pytest.raises(ClusterUnreachable):
                cluster.list()
