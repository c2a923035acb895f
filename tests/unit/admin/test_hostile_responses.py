"""Responses that are too large, compressed or not, or that take too long to decode."""

from __future__ import annotations

import asyncio
import struct
from functools import partial
from typing import Any

import pytest
from pytest_mock import MockerFixture

from kgroups.admin.log_search import backward_reader as group_log_backwards
from kgroups.admin.offsets_topic.reader import read_group_logs
from kgroups.admin.query import read_logs
from kgroups.admin.query.first_unread import find_unread
from kgroups.errors import ClusterUnreachable
from kgroups.model.group_log import CommitTimes, GroupLogs, ReadBudget
from kgroups.model.offsets import Isolation
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.net import connection
from kgroups.net.deadline import Deadline
from kgroups.protocol.budget import Budget
from kgroups.protocol.compression import Codec
from tests.fakes import broker as faults
from tests.fakes.asking import Stopwatch, ask, describe, list_groups, names
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.offset_records import commit_key, commit_value
from tests.fakes.record_batches import batch


def announced(size: int) -> faults.Fault:
    return faults.raw(struct.pack(">i", size))


class Over:
    """A clock whose time is over."""

    def remaining(self) -> float:
        return 0.0


def packed(partitions: int) -> FakeCluster:
    """Topic t: in each partition one batch, which unpacks to 60,000 bytes."""
    fake = FakeCluster(1)
    logs = {at: [batch(0, [(0, 1000 + at)], codec=Codec.ZSTD, value=bytes(60_000))] for at in range(partitions)}
    fake.state.topic("t", [0] * partitions, end=1, logs=logs)
    return fake


def find(fake: FakeCluster, partitions: int) -> Any:
    wanted = [Position("t", at, 0) for at in range(partitions)]
    return ask(fake, lambda admin: find_unread(admin.cluster, wanted, isolation=Isolation.READ_UNCOMMITTED))


@pytest.mark.parametrize("api", ["ApiVersions", "Metadata", "ListGroups"])
def test_response_above_the_cap_is_refused_at_its_length(api: str) -> None:
    fake = FakeCluster(1)
    fake.brokers[0].fault(api, announced(64 * 1024 * 1024 + 1))
    if api == "ListGroups":
        (failure,) = list_groups(fake).failures
        assert "67,108,865 bytes was announced; kgroups accepts at most 67,108,864" in failure.message
        return
    with pytest.raises(
        ClusterUnreachable, match="at most 524,288 bytes before" if api == "ApiVersions" else "at most 67"
    ):
        list_groups(fake)


def test_response_before_authentication_is_capped_at_512_kib() -> None:
    fake = FakeCluster(1)
    fake.brokers[0].fault("ApiVersions", announced(512 * 1024 + 1))
    with Stopwatch() as watch, pytest.raises(ClusterUnreachable, match="before authentication"):
        list_groups(fake)
    assert watch.seconds == 0


def test_describe_batch_above_the_cap_is_split(mocker: MockerFixture) -> None:
    mocker.patch.object(connection, "MAX_FRAME", 40_000)
    fake = FakeCluster(1)
    for at in range(20):
        member = FakeMember("m" * 3_000, {"t": (at,)})
        fake.state.group(f"g{at:02}", 0, state="Stable", members=(member,))
    huge = tuple(FakeMember("m" * 3_000 + str(at), {"t": (at,)}) for at in range(20))
    fake.state.group("huge", 0, state="Stable", members=huge)
    answer = describe(fake)
    assert names(answer) == [f"g{at:02}" for at in range(20)]
    (failure,) = answer.failures
    assert failure.name == "huge" and "kgroups accepts at most 40,000" in failure.message


def test_partitions_above_the_unpacked_budget_are_read_separately(mocker: MockerFixture) -> None:
    mocker.patch.object(read_logs, "Budget", partial(Budget, unpacked=100_000))
    fake = packed(3)
    found, failures = find(fake, 3)
    assert found == {Position("t", at, 0): FirstUnread(0, 1000 + at) for at in range(3)} and not failures


def test_decompression_bomb_fails_only_its_partition(mocker: MockerFixture) -> None:
    mocker.patch.object(read_logs, "Budget", partial(Budget, unpacked=100_000))
    fake = packed(3)
    fake.state.topic("t", [0] * 3, end=1, logs={
        **{at: [batch(0, [(0, 1000 + at)], codec=Codec.ZSTD)] for at in (0, 2)},
        1: [batch(0, [(0, 1)], codec=Codec.ZSTD, value=bytes(5_000_000))],
    })  # fmt: skip
    found, (failure,) = find(fake, 3)
    assert {at for at in range(3) if not found[Position("t", at, 0)].failed} == {0, 2}
    assert failure.name == "t-1" and "unpack to more than 100,000 bytes" in failure.message


def test_decompression_over_time_is_a_failure(mocker: MockerFixture) -> None:
    mocker.patch.object(Deadline, "within", lambda self, seconds: Over())
    found, failures = find(packed(2), 2)
    assert all(each.failed for each in found.values())
    assert all("too long to decode" in failure.message for failure in failures)


def test_deep_limit_counts_unpacked_bytes() -> None:
    topic = "__consumer_offsets"
    value = commit_value(3, commitTimestamp=70)
    log = [batch(0, [(0, 70)], key=commit_key(), value=value)]
    log += [
        batch(at, [(at, 70)], codec=Codec.ZSTD, key=commit_key("other"), value=bytes(900_000)) for at in range(1, 41)
    ]

    def read(size: int) -> GroupLogs:
        async def query(admin: Any) -> GroupLogs:
            found: GroupLogs = await read_group_logs(
                admin.cluster, {"g": frozenset({(1, "g", "t", 0)})}, ReadBudget(size, 60)
            )
            return found

        fake = FakeCluster(1)
        fake.state.topic(topic, [0], end=41, logs={0: log})
        return ask(fake, query)

    assert read(1 << 30).of("g").commits == {("t", 0): CommitTimes(70)}
    bounded = read(4 << 20)
    assert not bounded.of("g").commits and "4,194,304 bytes" in bounded.notices[0]


def test_deep_read_over_time_is_a_notice(mocker: MockerFixture) -> None:
    mocker.patch.object(group_log_backwards, "Budget", lambda clock: Budget(Over()))
    fake = FakeCluster(1)
    fake.state.topic("__consumer_offsets", [0], end=1, logs={0: [batch(0, [(0, 70)], key=commit_key())]})

    async def query(admin: Any) -> GroupLogs:
        found: GroupLogs = await read_group_logs(
            admin.cluster, {"g": frozenset({(1, "g", "t", 0)})}, ReadBudget(1 << 30, 60)
        )
        return found

    assert "too long to decode" in ask(fake, query).notices[0]


def test_decoding_over_time_is_a_failure(mocker: MockerFixture) -> None:
    fake = FakeCluster(1)
    for at in range(3_000):
        fake.state.group(f"g{at}", 0)
    mocker.patch.object(connection, "Budget", lambda allowed: Budget(Over() if fake.asked("ListGroups") else allowed))

    (failure,) = list_groups(fake).failures
    assert "response to ListGroups" in failure.message and "was not decoded within" in failure.message


def test_requests_after_oversized_response_are_retried() -> None:
    fake = FakeCluster(1)
    fake.state.group("g", 0, state="Stable", members=(FakeMember("m", {"t": (0,)}),))
    fake.brokers[0].fault("DescribeGroups", announced(1 << 30), times=1)

    async def query(admin: Any) -> Any:
        from tests.fakes.asking import EVERYTHING

        return await asyncio.gather(admin.describe(EVERYTHING), admin.describe(EVERYTHING))

    first, second = ask(fake, query)
    assert sorted([len(first.failures), len(second.failures)]) == [0, 1]
