"""Request pacing: broker throttling, and the maximum number of requests per second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kgroups.errors import NotRequested
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Exchange
from kgroups.net.deadline import Deadline
from kgroups.net.pace import Pace
from kgroups.net.probe import Prober, StepResult
from kgroups.protocol.apis.describe_groups import DescribeGroups
from kgroups.protocol.apis.list_groups import ListGroups
from tests.fakes import broker as faults
from tests.fakes.broker import FakeCluster

pytestmark = pytest.mark.usefixtures("virtual_time")


def throttling(fake: FakeCluster, seconds: float) -> list[float]:
    """Let the brokers throttle after each ListGroups; return when they answer, filled as they do."""
    answered: list[float] = []

    def bend(api: str, response: Any) -> Any:
        if api != "ListGroups":
            return response
        answered.append(time.monotonic())
        return replace(response, throttle_time=timedelta(seconds=seconds))

    for broker in fake.brokers.values():
        broker.bend = bend
    return answered


def with_cluster(fake: FakeCluster, work: Callable[[Cluster], Awaitable[None]], **settings: Any) -> list[Exchange]:
    seen: list[Exchange] = []

    async def run() -> None:
        async with fake:
            cluster, _ = await Cluster.connect(fake.settings(**settings), observer=seen.append)
            async with cluster:
                await work(cluster)

    asyncio.run(run())
    return seen


async def two_lists(cluster: Cluster) -> None:
    (node,) = cluster.nodes.values()
    for _ in range(2):
        await cluster.call(node, ListGroups())


def test_request_waits_until_throttling_ends() -> None:
    fake = FakeCluster(1)
    answered = throttling(fake, 0.3)
    seen = with_cluster(fake, two_lists)
    first, second = answered
    assert round(second - first, 6) >= 0.3
    assert [exchange.pause for exchange in seen if exchange.api == "ListGroups"] == [0.3, 0.3]


def test_requests_sent_before_throttling_are_waited_for() -> None:
    """A broker that throttles reads the second of two requests only after the pause."""
    fake = FakeCluster(1)
    throttling(fake, 20)
    muted = faults.late(2.6)

    async def work(cluster: Cluster) -> None:
        (node,) = cluster.nodes.values()
        fake.brokers[0].fault("DescribeGroups", muted)
        await asyncio.gather(cluster.call(node, ListGroups()), cluster.call(node, DescribeGroups(("a",))))

    with_cluster(fake, work, broker_timeout=2)


def test_throttling_before_kafka_2_0_needs_no_wait() -> None:
    fake = FakeCluster(1, "1.1.1")
    throttling(fake, 3600)
    with_cluster(fake, two_lists)


def test_throttling_beyond_the_deadline_is_not_requested() -> None:
    fake = FakeCluster(1)
    answered = throttling(fake, 3600)
    over = r"not requested: the broker throttles this client \(quota\) for 3600\.0 s more, .* --timeout \(20 s\)"
    with pytest.raises(NotRequested, match=over):
        with_cluster(fake, two_lists, timeout=20)
    assert len(answered) == 1


def test_request_rate_is_shared_by_all_brokers() -> None:
    fake = FakeCluster(2)
    arrived: list[float] = []

    def bend(api: str, response: Any) -> Any:
        arrived.append(time.monotonic())
        return response

    for broker in fake.brokers.values():
        broker.bend = bend

    async def work(cluster: Cluster) -> None:
        await asyncio.gather(*(cluster.call(node, ListGroups()) for node in cluster.nodes.values()))

    with_cluster(fake, work, max_requests_per_second=20.0)
    assert len(arrived) >= 5
    assert arrived[-1] - arrived[0] >= (len(arrived) - 1) * 0.05 - 0.04  # the first may have been slow to arrive


def test_turns_are_spaced_by_the_rate() -> None:
    async def run() -> list[float]:
        pace = Pace(Deadline(30), 20.0)
        turns: list[float] = []

        async def one() -> None:
            await pace.turn("broker 1", 0.0)
            turns.append(time.monotonic())

        started = time.monotonic()
        await asyncio.gather(*(one() for _ in range(6)))
        return [at - started for at in turns]

    turns = asyncio.run(run())
    assert all(at >= number * 0.05 - 0.002 for number, at in enumerate(turns))


def test_turn_after_the_deadline_names_the_rate_option() -> None:
    async def run() -> None:
        pace = Pace(Deadline(5), 0.01)
        await pace.turn("broker 1", 0.0)
        with pytest.raises(NotRequested, match=r"--max-requests-per-second allows no request before --timeout \(5 s\)"):
            await pace.turn("broker 1", 0.0)

    asyncio.run(run())


def probed(pause: float, **settings: Any) -> list[StepResult]:
    """The steps to a broker that throttles after ApiVersions."""
    fake = FakeCluster(1)
    broker = fake.brokers[0]
    broker.bend = lambda api, response: (
        replace(response, throttle_time=timedelta(seconds=pause)) if api == "ApiVersions" else response
    )

    async def run() -> list[StepResult]:
        async with fake:
            return await Prober(fake.settings(**settings)).probe("127.0.0.1", broker.port, "b")

    return asyncio.run(run())


def test_config_check_waits_until_throttling_ends() -> None:
    began = time.monotonic()
    steps = probed(20, broker_timeout=2, timeout=60)
    assert time.monotonic() - began >= 20
    assert [step.error for step in steps] == [None] * len(steps)
    assert steps[-1].seconds is not None and steps[-1].seconds < 20, "the pause is no time of the step"


def test_config_check_reports_throttling_beyond_the_deadline() -> None:
    *_, metadata = probed(3600, timeout=5)
    assert isinstance(metadata.error, NotRequested) and "the broker throttles this client" in str(metadata.error)
