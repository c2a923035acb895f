"""Reading stretches of many logs: few requests, and no record is missed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.routing.partition_leaders import topic_leaders
from kgroups.admin.translation.log_reader import PORTION, LogReader, Unread
from kgroups.net.cluster import Cluster
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import batch

T = TypeVar("T")
PARTITIONS = 24


def run(cluster: FakeCluster, work: Callable[[LogReader], Awaitable[T]]) -> T:
    async def inside() -> T:
        async with cluster:
            client, _ = await Cluster.connect(cluster.settings(broker_timeout=2))
            async with client:
                return await work(LogReader(client, "on the source", await topic_leaders(client, ["t"])))

    return asyncio.run(inside())


def filled(value: bytes = b"value") -> FakeCluster:
    cluster = FakeCluster(1, "4.3.1")
    logs = {at: [batch(0, [(0, 1000 + at)], value=value), batch(1, [(1, 2000 + at)])] for at in range(PARTITIONS)}
    cluster.state.topic("t", [0] * PARTITIONS, end=2, logs=logs)
    return cluster


def requests(cluster: FakeCluster, api: str) -> int:
    return sum(each.api == api for each in cluster.requests)


def test_partitions_that_are_read_at_the_same_time_are_one_request() -> None:
    cluster = filled()

    async def work(reader: LogReader) -> list[list[int]]:
        chunks = await asyncio.gather(*(reader.read(("t", at), 0) for at in range(PARTITIONS)))
        return [[record.content[0] for record in chunk.records] for chunk in chunks]

    assert run(cluster, work) == [[1000 + at, 2000 + at] for at in range(PARTITIONS)]
    assert requests(cluster, "Fetch") <= 2


def test_offsets_of_different_times_are_one_request() -> None:
    cluster = filled()

    async def work(reader: LogReader) -> None:
        await asyncio.gather(*(reader.offset_at(("t", at), 1000 + at) for at in range(PARTITIONS)))

    run(cluster, work)
    assert requests(cluster, "ListOffsets") <= 2


def test_several_offsets_of_one_partition_are_separate_requests() -> None:
    async def work(reader: LogReader) -> list[int]:
        return [len(chunk.records) for chunk in await asyncio.gather(*(reader.read(("t", 0), at) for at in (0, 1, 0)))]

    assert run(filled(), work) == [2, 1, 2]


def test_batch_that_does_not_fit_among_others_is_not_the_end() -> None:
    cluster = filled(b"x" * (PORTION + 1))

    async def work(reader: LogReader) -> list[tuple[int, int]]:
        chunks = await asyncio.gather(*(reader.read(("t", at), 0) for at in range(PARTITIONS)))
        return [(record.offset, len(record.content[1])) for chunk in chunks for record in chunk.records]

    found = run(cluster, work)
    # No more than that batch, whatever else is requested.
    assert [offset for offset, _ in found] == [0] * PARTITIONS
    assert all(size > PORTION for _, size in found)


def test_leader_that_moved_is_looked_up_again() -> None:
    cluster = filled()

    async def work(reader: LogReader) -> int:
        cluster.state.fail("Fetch", "t-0", ErrorCode.not_leader_or_follower, 1)
        return (await reader.read(("t", 0), 0)).until

    assert run(cluster, work) == 2
    assert requests(cluster, "Fetch") == 2


def test_error_of_a_partition_is_only_its_own() -> None:
    cluster = filled()

    async def work(reader: LogReader) -> list[object]:
        asked = [reader.read(("t", 0), 0), reader.read(("t", 1), 9)]
        return [getattr(each, "until", each) for each in await asyncio.gather(*asked, return_exceptions=True)]

    first, second = run(cluster, work)
    assert first == 2
    with pytest.raises(Unread, match="t-1"):
        raise second  # type: ignore[misc]
