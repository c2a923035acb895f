"""First unread records from brokers that truncate batches, move, refuse, and lie."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from pytest_mock import MockerFixture

from kgroups.admin.query import read_logs
from kgroups.admin.query.first_unread import find_unread
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure, Scope
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.protocol.record_batch import Aborted
from tests.fakes import broker as faults
from tests.fakes.asking import PATIENCE, Stopwatch, ask
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import TRANSACTIONAL, Batch, batch, marker
from tests.fakes.versions import KAFKA

Answer = tuple[dict[Position, FirstUnread], tuple[Failure, ...]]


def log(*offsets: int, size: int = 10) -> list[Batch]:
    """A batch for each record, which is as old as its offset says."""
    return [batch(offset, [(offset, 1000 + offset)], value=bytes(size)) for offset in offsets]


def cluster(brokers: int = 2, version: str = "4.3.1") -> FakeCluster:
    """Topic t: partition 0 on broker 0, partition 1 on broker 1, each with the offsets 40 to 99."""
    fake = FakeCluster(brokers, version)
    fake.state.topic("t", [0, 1], start=40, end=100, logs={0: log(*range(40, 100)), 1: log(*range(40, 100))})
    return fake


def find(fake: FakeCluster, wanted: Iterable[Position], level: str = "READ_UNCOMMITTED", **rest: Any) -> Answer:
    isolation = Isolation[level]

    async def query(admin: Any) -> Answer:
        found: Answer = await find_unread(admin.cluster, wanted, isolation=isolation)
        return found

    return ask(fake, query, **rest)


def at(offset: int, partition: int = 0, topic: str = "t") -> Position:
    return Position(topic, partition, offset)


@pytest.mark.parametrize("version", KAFKA)
def test_find_unread_sends_one_request_per_leader_on_every_version(version: str) -> None:
    fake = cluster(version=version)
    found, failures = find(fake, [at(50), at(60, 1)])
    assert found == {at(50): FirstUnread(50, 1050), at(60, 1): FirstUnread(60, 1060)}
    assert not failures
    assert sorted(request.broker for request in fake.asked("Fetch")) == [0, 1]


def test_find_unread_without_positions_sends_nothing() -> None:
    fake = cluster()
    assert find(fake, []) == ({}, ())
    assert not fake.asked("Fetch")


def test_find_unread_near_positions_share_one_request() -> None:
    fake = cluster()
    wanted = [at(offset) for offset in range(40, 100)]
    found, _ = find(fake, [*wanted, *wanted])
    assert found == {place: FirstUnread(place.offset, 1000 + place.offset) for place in wanted}
    assert len(fake.asked("Fetch")) == 1


def test_find_unread_distant_positions_need_one_request_each() -> None:
    fake = cluster()
    fake.state.topics["t"].logs[0] = log(*range(40, 100), size=5_000)
    found, _ = find(fake, [at(40), at(70), at(99)])
    assert [each.timestamp for each in found.values()] == [1040, 1070, 1099]
    assert len(fake.asked("Fetch")) == 3


def test_find_unread_many_partitions_are_split() -> None:
    fake = FakeCluster(1)
    fake.state.topic("t", [0] * 600, logs={partition: log(0) for partition in range(600)})
    found, failures = find(fake, [at(0, partition) for partition in range(600)])
    assert len(found) == 600 and set(found.values()) == {FirstUnread(0, 1000)} and not failures
    assert len(fake.asked("Fetch")) == 3


def test_find_unread_retries_large_batch_with_more_bytes() -> None:
    fake = FakeCluster(1)
    sizes = {0: 10, 1: 50_000, 2: 3_000_000, 3: 50_000, 4: 3_000_000}
    logs = {partition: log(7, size=size) for partition, size in sizes.items()}
    fake.state.topic("t", [0] * 5, end=8, logs=logs)
    found, failures = find(fake, [at(7, partition) for partition in sizes])
    assert set(found.values()) == {FirstUnread(7, 1007)} and len(found) == 5
    assert not failures
    assert len(fake.asked("Fetch")) <= 4


def test_find_unread_empty_responses_are_a_failure() -> None:
    fake = cluster()
    fake.state.topics["t"].logs[0] = ()
    found, (failure,) = find(fake, [at(50), at(50, 1)])
    assert found[at(50)] == FirstUnread(failed=read_logs.NOTHING_WHOLE)
    assert found[at(50, 1)] == FirstUnread(50, 1050)
    assert (failure.scope, failure.name, failure.broker) == (Scope.PARTITION, "t-0", 0)
    assert len(fake.asked("Fetch")) == 1 + len(read_logs.PORTIONS)


def test_find_unread_only_markers_is_nothing_unread() -> None:
    fake = cluster()
    fake.state.topics["t"].logs[0] = [*log(50), marker(51, 5), batch(52, [], last=99)]
    found, failures = find(fake, [at(50), at(51), at(60)])
    assert found == {at(50): FirstUnread(50, 1050), at(51): FirstUnread(), at(60): FirstUnread()}
    assert not failures


def test_find_unread_skips_empty_batches_by_portion() -> None:
    fake = FakeCluster(1)
    # A portion of 16 KiB holds some of these, one of 1 MiB all.
    holes = [batch(offset, [], last=offset) for offset in range(2000)]
    fake.state.topic("t", [0], end=2001, logs={0: [*holes, *log(2000)]})
    found, failures = find(fake, [at(0)])
    assert found == {at(0): FirstUnread(2000, 3000)} and not failures
    assert len(fake.asked("Fetch")) == 2


def test_find_unread_limits_skipped_batches(mocker: MockerFixture) -> None:
    mocker.patch.object(read_logs, "PORTIONS", (read_logs.Portion(700, 8),) * 3)
    fake = FakeCluster(1)
    holes = [batch(offset, [], last=offset) for offset in range(1000)]
    fake.state.topic("t", [0], end=1001, logs={0: [*holes, *log(1000)]})
    found, (failure,) = find(fake, [at(0), at(1000)])
    assert found == {at(0): FirstUnread(failed=read_logs.TOO_FAR), at(1000): FirstUnread(1000, 2000)}
    assert failure.message == read_logs.TOO_FAR
    assert len(fake.asked("Fetch")) < read_logs.ROUNDS + 5


@pytest.mark.parametrize(
    ("level", "expected"), [("READ_UNCOMMITTED", FirstUnread(50, 1050)), ("READ_COMMITTED", FirstUnread(52, 1052))]
)
def test_find_unread_aborted_records_depend_on_isolation(level: str, expected: FirstUnread) -> None:
    fake = cluster()
    aborted = batch(50, [(50, 1050)], producer=7, attributes=TRANSACTIONAL)
    fake.state.topics["t"].logs[0] = [aborted, marker(51, 7), *log(52)]
    fake.state.topics["t"].aborted = [Aborted(7, 50)]
    assert find(fake, [at(50)], level)[0] == {at(50): expected}


@pytest.mark.parametrize(
    ("level", "expected"), [("READ_UNCOMMITTED", FirstUnread(51, 1051)), ("READ_COMMITTED", FirstUnread())]
)
def test_find_unread_read_committed_stops_at_open_transactions(level: str, expected: FirstUnread) -> None:
    fake = cluster()
    fake.state.topics["t"].stable = 51
    fake.state.topics["t"].logs[0] = [marker(50, 7), *log(51)]
    assert find(fake, [at(50)], level)[0] == {at(50): expected}


def test_find_unread_follows_moved_leader() -> None:
    fake = cluster()
    fake.state.topics["t"].leader_seen = {0: [1]}
    found, failures = find(fake, [at(50), at(50, 1)])
    assert set(found.values()) == {FirstUnread(50, 1050)} and not failures


def test_find_unread_gives_up_on_leader_that_keeps_moving() -> None:
    fake = cluster()
    fake.state.topics["t"].leader_seen = {0: [1] * 9}
    found, (failure,) = find(fake, [at(50), at(51), at(50, 1)])
    assert failure.error == "NOT_LEADER_OR_FOLLOWER"
    assert found[at(50)].failed and found[at(51)].failed and found[at(50, 1)] == FirstUnread(50, 1050)


def test_find_unread_waits_for_new_leader() -> None:
    fake = cluster()
    fake.state.topics["t"].leader_seen = {0: [-1]}
    assert find(fake, [at(50)]) == ({at(50): FirstUnread(50, 1050)}, ())


def test_find_unread_unauthorized_topic_is_one_failure() -> None:
    fake = cluster()
    for partition in (0, 1):
        fake.state.fail("Fetch", f"t-{partition}", ErrorCode.topic_authorization_failed)
    found, (failure,) = find(fake, [at(50), at(50, 1)])
    assert (failure.scope, failure.name, failure.error) == (Scope.TOPIC, "t", "TOPIC_AUTHORIZATION_FAILED")
    assert "READ" in failure.message and set(found.values()) == {FirstUnread(failed=failure.message)}


def test_find_unread_deleted_records_fail_only_their_position() -> None:
    fake = cluster()
    found, (failure,) = find(fake, [at(30), at(50)])
    assert failure.error == "OFFSET_OUT_OF_RANGE"
    assert found == {at(30): FirstUnread(failed=failure.message), at(50): FirstUnread(50, 1050)}


def test_find_unread_deleted_topic_is_one_failure() -> None:
    found, (failure,) = find(cluster(), [at(3, 0, "gone"), at(4, 1, "gone"), at(50)])
    assert (failure.scope, failure.name) == (Scope.TOPIC, "gone")
    assert found[at(50)] == FirstUnread(50, 1050)


def test_find_unread_top_level_error_fails_each_leader() -> None:
    fake = cluster()
    fake.state.fail("Fetch", "", ErrorCode.unknown_server_error)
    found, failures = find(fake, [at(50), at(60, 1)])
    assert [failure.error for failure in failures] == ["UNKNOWN_SERVER_ERROR"] * 2 and len(found) == 2


def test_find_unread_corrupt_bytes_fail_only_their_partition() -> None:
    fake = cluster(1)
    good = batch(50, [(50, 1050)])
    fake.state.topic("u", [0, 0], end=100, logs={0: [good._replace(data=good.data[:60] + b"\1\xff\xff")], 1: [good]})
    found, failures = find(fake, [at(50, 0, "u"), at(50, 1, "u")])
    assert found[at(50, 1, "u")] == FirstUnread(50, 1050)
    assert [failure.name for failure in failures] == ["u-0"]


def test_find_unread_truncated_response_is_a_failure() -> None:
    fake = cluster()
    fake.brokers[0].fault("Fetch", faults.truncated(30))
    found, (failure,) = find(fake, [at(50), at(60, 1)])
    assert "undecodable" in failure.message and failure.broker == 0
    assert found[at(60, 1)] == FirstUnread(60, 1060)


def test_find_unread_reconnects_after_one_disconnect() -> None:
    fake = cluster()
    fake.brokers[0].fault("Fetch", faults.close, times=1)
    assert find(fake, [at(50)]) == ({at(50): FirstUnread(50, 1050)}, ())


def test_find_unread_hung_broker_costs_one_timeout() -> None:
    fake = cluster()
    fake.brokers[1].fault("Fetch", faults.silence)
    with Stopwatch() as watch:
        found, failures = find(fake, [at(50), at(50, 1), at(60, 1)], via=(0,), broker_timeout=PATIENCE)
    assert found[at(50)] == FirstUnread(50, 1050)
    assert found[at(50, 1)].failed and found[at(60, 1)].failed
    assert {failure.broker for failure in failures} == {1}
    assert PATIENCE <= watch.seconds < 2 * PATIENCE


def test_find_unread_stops_at_the_deadline() -> None:
    fake = cluster()
    fake.brokers[1].fault("Fetch", faults.silence)
    with Stopwatch() as watch:
        found, failures = find(fake, [at(50), at(50, 1)], via=(0,), timeout=PATIENCE, broker_timeout=30)
    assert found[at(50)] == FirstUnread(50, 1050) and found[at(50, 1)].failed
    assert failures and watch.seconds == pytest.approx(PATIENCE)
