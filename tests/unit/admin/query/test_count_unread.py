"""Unread records counted on brokers that lead many partitions, refuse, and have more than is read."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from pytest_mock import MockerFixture

from kgroups.admin.query import count_unread
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.time_lag import Position
from kgroups.model.unread_count import UnreadCount
from kgroups.protocol.record_batch import Aborted
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import TRANSACTIONAL, batch, marker
from tests.fakes.versions import KAFKA

Answer = tuple[dict[Position, UnreadCount], tuple[Failure, ...]]
ENDS = {("t", 0): 100, ("t", 1): 100}


def cluster(version: str = "4.3.1", size: int = 10) -> FakeCluster:
    """Topic t: partition 0 on broker 0, partition 1 on broker 1; each second of the offsets 40 to 98 has a record."""
    fake = FakeCluster(2, version)
    log = [batch(at, [(at, 1)], last=at + 1, value=bytes(size)) for at in range(40, 100, 2)]
    fake.state.topic("t", [0, 1], start=40, end=100, logs={0: log, 1: log})
    return fake


def count(fake: FakeCluster, wanted: Iterable[Position], level: str = "READ_UNCOMMITTED") -> Answer:
    async def query(admin: Any) -> Answer:
        found: Answer = await count_unread.count_unread(admin.cluster, wanted, ENDS, isolation=Isolation[level])
        return found

    return ask(fake, query)


def at(offset: int, partition: int = 0) -> Position:
    return Position("t", partition, offset)


@pytest.mark.parametrize("version", KAFKA)
def test_count_needs_one_request_per_leader_for_all_positions(version: str) -> None:
    fake = cluster(version)
    found, failures = count(fake, [at(40), at(50), at(51), at(99), at(60, 1)])
    exact = {at(40): 30, at(50): 25, at(51): 24, at(99): 0, at(60, 1): 20}
    assert found == {place: UnreadCount(number, number) for place, number in exact.items()}
    assert not failures and sorted(request.broker for request in fake.asked("Fetch")) == [0, 1]
    assert count(cluster(), []) == ({}, ())


def test_count_of_more_than_one_portion_is_exact() -> None:
    fake = cluster(size=3_000)
    found, _ = count(fake, [at(40), at(98)])
    assert found == {at(40): UnreadCount(30, 30), at(98): UnreadCount(1, 1)}
    assert len(fake.asked("Fetch")) > 1


def test_count_stops_at_the_limit_of_each_position(mocker: MockerFixture) -> None:
    mocker.patch.object(count_unread, "LIMIT", 10_000)
    found, failures = count(cluster(size=3_000), [at(40), at(98)])
    least, most, reason = found[at(40)]
    assert least is not None and most is not None
    assert 0 < least < 30 < most == least + 60 - 2 * least and reason == count_unread.STOPPED
    assert found[at(98)] == UnreadCount(1, 1) and not failures


def test_count_stops_in_time(mocker: MockerFixture) -> None:
    mocker.patch.object(count_unread, "SHARE_OF_TIME_LEFT", -1)
    found, _ = count(cluster(size=3_000), [at(40)])
    assert found[at(40)].reason == count_unread.TIMED_OUT


def test_count_without_aborted_records() -> None:
    fake = cluster()
    log = [batch(90, [(each, 1) for each in range(90, 95)], attributes=TRANSACTIONAL, producer=7), marker(95, 7)]
    fake.state.topic("t", [0], start=90, end=96, logs={0: log}, aborted=[Aborted(7, 90)])
    ends = {("t", 0): 96}

    async def query(admin: Any) -> list[UnreadCount]:
        count = partial(count_unread.count_unread, admin.cluster, [at(90)], ends)
        return [(await count(isolation=level))[0][at(90)] for level in Isolation]

    assert ask(fake, query) == [UnreadCount(5, 5), UnreadCount(0, 0)]


def test_count_without_permission_is_unknown() -> None:
    fake = cluster()
    fake.state.fail("Fetch", "t-0", ErrorCode.topic_authorization_failed)
    found, failures = count(fake, [at(40), at(60, 1)])
    assert found[at(60, 1)] == UnreadCount(20, 20)
    assert found[at(40)] == UnreadCount(reason=failures[0].message) and "needs READ on TOPIC t" in failures[0].message
