from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from kgroups.errors import (
    BrokerUnavailable,
    ClusterUnreachable,
    DeadlineExceeded,
    OutcomeUnknown,
    RemoteProtocolError,
    UnsupportedVersion,
)
from kgroups.net.cluster import Cluster
from kgroups.net.connection import KeptWaiting
from kgroups.net.deadline import Deadline
from kgroups.net.pool import LANES
from kgroups.protocol.apis.alter_share_group_offsets import AlterShareGroupOffsets
from kgroups.protocol.apis.describe_share_group_offsets import DescribeShareGroupOffsets
from kgroups.protocol.apis.find_coordinator import API as FIND_COORDINATOR
from kgroups.protocol.apis.find_coordinator import FindCoordinator
from kgroups.protocol.apis.list_groups import ListGroups
from tests.fakes import broker as faults
from tests.fakes.asking import PATIENCE, Stopwatch
from tests.fakes.broker import FakeCluster

pytestmark = pytest.mark.usefixtures("virtual_time")

T = TypeVar("T")


def with_cluster(
    fake: FakeCluster, work: Callable[[Cluster], Awaitable[T]], via: tuple[int, ...] = (), **settings: Any
) -> T:
    async def run() -> T:
        async with fake:
            cluster, _ = await Cluster.connect(fake.settings(*via, **settings))
            async with cluster:
                return await work(cluster)

    return asyncio.run(run())


async def nothing(cluster: Cluster) -> None:
    return None


def test_connect_reads_brokers_and_cluster_id() -> None:
    async def work(cluster: Cluster) -> None:
        assert cluster.cluster_id == "fake-cluster"
        assert list(cluster.nodes) == [0, 1]
        for node in cluster.nodes.values():
            assert (await cluster.call(node, ListGroups())).error is None

    fake = FakeCluster(2)
    with_cluster(fake, work, via=(0,))
    assert [broker.connections for broker in fake.brokers.values()] == [1, 1]


def test_silent_first_bootstrap_server_does_not_delay_the_second() -> None:
    fake = FakeCluster(2)
    fake.brokers[0].fault("*", faults.silence)
    with Stopwatch() as watch:
        with_cluster(fake, nothing, via=(0, 1))
    assert watch.seconds == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("fault", "reported"),
    [(faults.late(0.5), "no response to ListGroups"), (faults.silence, "no response to ApiVersions")],
)
def test_request_started_by_address_fails_with_broker_name(fault: faults.Fault, reported: str) -> None:
    """The first bootstrap server is slow; Metadata of the second names it."""

    async def work(cluster: Cluster) -> None:
        fake.brokers[0].fault("ListGroups", faults.silence)
        with pytest.raises(BrokerUnavailable, match=rf"^broker 0 \(127\.0\.0\.1:\d+\): {reported}"):
            await cluster.call(cluster.nodes[0], ListGroups())

    fake = FakeCluster(2)
    fake.brokers[0].fault("ApiVersions", fault)
    with_cluster(fake, work, via=(0, 1), broker_timeout=1)


def test_stopped_first_bootstrap_server_is_skipped() -> None:
    fake = FakeCluster(2)
    fake.brokers[0].alive = False
    with_cluster(fake, nothing, via=(0, 1))


def test_bootstrap_servers_that_fail_and_respond_together() -> None:
    fake = FakeCluster(3)
    fake.brokers[0].fault("ApiVersions", faults.late(0.5))
    fake.brokers[1].fault("ApiVersions", faults.raw(b"HTTP/1.1 400 Bad Request"))
    with_cluster(fake, nothing, via=(1, 0, 2))


def test_unreachable_bootstrap_servers_are_each_reported() -> None:
    fake = FakeCluster(3)
    fake.brokers[0].alive = False
    fake.brokers[1].fault("*", faults.raw(b"HTTP/1.1 400 Bad Request\r\n"))
    fake.brokers[2].fault("*", faults.silence)
    with pytest.raises(ClusterUnreachable) as answer:
        with_cluster(fake, nothing, broker_timeout=PATIENCE)
    for words in ("no bootstrap server responded", "connection refused", "speaks HTTP", "no response to ApiVersions"):
        assert words in str(answer.value)


def test_bootstrap_is_bounded_by_the_deadline() -> None:
    fake = FakeCluster(1)
    fake.brokers[0].fault("*", faults.silence)
    with Stopwatch() as watch, pytest.raises(ClusterUnreachable):
        with_cluster(fake, nothing, timeout=0.1, broker_timeout=30)
    assert watch.seconds == pytest.approx(0.1)


def test_versions_are_negotiated_with_old_broker() -> None:
    fake = FakeCluster(1, "1.1.1")

    async def work(cluster: Cluster) -> None:
        node = cluster.nodes[0]
        assert (await cluster.versions(node)).pick(FIND_COORDINATOR) == 1
        assert not await cluster.speaks(node, FIND_COORDINATOR, 4)
        await cluster.call(node, FindCoordinator(("g",)))

    with_cluster(fake, work)
    assert [(r.api, r.version) for r in fake.requests] == [
        ("ApiVersions", 3),
        ("ApiVersions", 0),
        ("Metadata", 5),
        ("FindCoordinator", 1),
    ]


def test_hung_broker_is_not_asked_again() -> None:
    fake = FakeCluster(2)

    async def work(cluster: Cluster) -> None:
        fake.brokers[1].fault("ListGroups", faults.silence)
        hung = cluster.nodes[1]
        with Stopwatch() as watch:
            for _ in range(5):
                with pytest.raises(BrokerUnavailable, match="no response to ListGroups"):
                    await cluster.call(hung, ListGroups())
        assert watch.seconds == pytest.approx(PATIENCE)
        assert not cluster.reachable(hung) and cluster.reachable(cluster.nodes[0])
        assert cluster.nodes_by_health()[-1] == hung

    with_cluster(fake, work, via=(0,), broker_timeout=PATIENCE)
    assert len(fake.asked("ListGroups")) == 1


def test_dropped_connection_is_reopened() -> None:
    fake = FakeCluster(1)
    fake.brokers[0].fault("ListGroups", faults.close, times=1)

    async def work(cluster: Cluster) -> None:
        with pytest.raises(BrokerUnavailable, match="closed the connection"):
            await cluster.call(cluster.nodes[0], ListGroups())
        assert (await cluster.call(cluster.nodes[0], ListGroups())).error is None

    with_cluster(fake, work)
    assert fake.brokers[0].connections == 2


def test_call_any_skips_stopped_and_lying_brokers() -> None:
    fake = FakeCluster(3)

    async def work(cluster: Cluster) -> None:
        await fake.brokers[0].stop()
        fake.brokers[1].fault("FindCoordinator", faults.truncated(5))
        assert await cluster.call_any(FindCoordinator(("g", "h")), needs=4)
        await fake.brokers[2].stop()
        with pytest.raises((BrokerUnavailable, RemoteProtocolError)):
            await cluster.call_any(FindCoordinator(("g", "h")), needs=4)

    with_cluster(fake, work)


def test_call_any_finds_broker_with_required_version() -> None:
    fake = FakeCluster(2, {0: "2.8.2", 1: "3.9.1"})

    async def work(cluster: Cluster) -> None:
        assert len(await cluster.call_any(FindCoordinator(("g", "h")), needs=4)) == 2
        with pytest.raises(UnsupportedVersion, match="FindCoordinator v7 is not supported"):
            await cluster.call_any(FindCoordinator(("g",)), needs=7)

    with_cluster(fake, work, via=(0,))
    assert [request.broker for request in fake.asked("FindCoordinator")] == [1]


def test_expired_deadline_is_the_reported_reason() -> None:
    fake = FakeCluster(1)

    async def work(cluster: Cluster) -> None:
        fake.brokers[0].fault("ListGroups", faults.silence)
        for _ in range(2):
            with pytest.raises(DeadlineExceeded, match=r"--timeout"):
                await cluster.call(cluster.nodes[0], ListGroups())

    with_cluster(fake, work, timeout=PATIENCE, broker_timeout=30)


def test_cancelled_caller_keeps_the_shared_connection_open() -> None:
    fake = FakeCluster(2)
    fake.brokers[1].fault("ApiVersions", faults.late(0.1), times=1)

    async def work(cluster: Cluster) -> None:
        hasty = asyncio.ensure_future(cluster.call(cluster.nodes[1], ListGroups()))
        patient = asyncio.ensure_future(cluster.call(cluster.nodes[1], ListGroups()))
        await asyncio.sleep(0.03)
        hasty.cancel()
        assert (await patient).error is None

    with_cluster(fake, work, via=(0,))


def test_invalid_api_versions_response_names_the_broker() -> None:
    fake = FakeCluster(1)
    fake.brokers[0].fault("ApiVersions", faults.truncated(-3))
    with pytest.raises(ClusterUnreachable, match=r"127\.0\.0\.1:\d+: not a valid ApiVersions response"):
        with_cluster(fake, nothing)


def test_change_uses_an_idle_connection_but_not_that_of_reads() -> None:
    async def work(cluster: Cluster) -> None:
        node = cluster.nodes[0]
        for _ in range(3):
            await cluster.change(node, ListGroups())
        assert fake.brokers[0].connections == 1 + 1
        await asyncio.gather(*(cluster.change(node, ListGroups()) for _ in range(50)))
        assert fake.brokers[0].connections == 1 + LANES

    fake = FakeCluster(1)
    with_cluster(fake, work)


def test_request_that_waits_for_another_broker_delays_no_other() -> None:
    """And the broker, which responds to other requests, is not down."""

    async def work(cluster: Cluster) -> None:
        node = cluster.nodes[0]
        waiting = [asyncio.ensure_future(cluster.call(node, DescribeShareGroupOffsets((f"s{at}",)))) for at in range(9)]
        changing = asyncio.ensure_future(cluster.change(node, AlterShareGroupOffsets("s", {"t": [(0, 1)]})))
        await asyncio.sleep(0.5)
        with Stopwatch() as watch:
            assert (await cluster.call(node, ListGroups())).error is None
        assert watch.seconds == pytest.approx(0)
        with Stopwatch() as watch:
            answers = await asyncio.gather(*waiting, changing, return_exceptions=True)
        assert watch.seconds == pytest.approx(PATIENCE - 0.5)
        for answer in answers[:-1]:
            assert isinstance(answer, KeptWaiting) and "no response to DescribeShareGroupOffsets" in str(answer)
        assert isinstance(answers[-1], OutcomeUnknown)
        assert cluster.reachable(node)
        fake.brokers[0].recover()
        await cluster.call(node, DescribeShareGroupOffsets(("s",)))  # on no connection that still waits

    fake = FakeCluster(1)
    for api in ("DescribeShareGroupOffsets", "AlterShareGroupOffsets"):
        fake.brokers[0].fault(api, faults.silence)
    with_cluster(fake, work, broker_timeout=PATIENCE)


def test_broker_without_any_response_is_down_after_one_timeout() -> None:
    async def work(cluster: Cluster) -> None:
        node = cluster.nodes[0]
        fake.brokers[0].fault("*", faults.silence)
        with Stopwatch() as watch, pytest.raises(BrokerUnavailable):
            await cluster.call(node, DescribeShareGroupOffsets(("s",)))
        assert watch.seconds == pytest.approx(PATIENCE)
        assert not cluster.reachable(node)

    fake = FakeCluster(1)
    with_cluster(fake, work, broker_timeout=PATIENCE)


@pytest.mark.parametrize("fault", [faults.silence, faults.close, faults.truncated(6), faults.wrong_id])
def test_change_without_response_has_unknown_outcome(fault: faults.Fault) -> None:
    async def work(cluster: Cluster) -> None:
        with pytest.raises(OutcomeUnknown, match="its outcome is unknown"):
            await cluster.change(cluster.nodes[0], ListGroups())

    fake = FakeCluster(1)
    fake.brokers[0].fault("ListGroups", fault)
    with_cluster(fake, work, broker_timeout=PATIENCE)


def test_change_that_was_never_sent_has_a_known_outcome() -> None:
    async def work(cluster: Cluster) -> None:
        await fake.brokers[1].stop()
        with pytest.raises(BrokerUnavailable):
            await cluster.change(cluster.nodes[1], ListGroups())
        cluster.deadline = Deadline(0)
        with pytest.raises(DeadlineExceeded):
            await cluster.change(cluster.nodes[0], ListGroups())
        assert not fake.asked("ListGroups")

    fake = FakeCluster(2)
    with_cluster(fake, work, via=(0,))


def test_closed_plaintext_broker_is_not_mistaken_for_tls() -> None:
    """It has answered before; the connection after that is closed at its first request."""

    async def work(cluster: Cluster) -> None:
        with pytest.raises(BrokerUnavailable, match="closed the connection"):
            await cluster.call(cluster.nodes[0], ListGroups())
        with pytest.raises(BrokerUnavailable, match="closed the connection") as answer:
            await cluster.call(cluster.nodes[0], ListGroups())
        assert "TLS" not in str(answer.value)

    fake = FakeCluster(1)
    fake.brokers[0].fault("ListGroups", faults.close)
    fake.brokers[0].fault("ApiVersions", faults.late(0), times=1)
    fake.brokers[0].fault("ApiVersions", faults.close)
    with_cluster(fake, work)
