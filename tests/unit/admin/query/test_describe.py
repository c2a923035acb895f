"""Describe with offsets and lag: batching, and every partial failure."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.select_groups import Selection
from kgroups.model.offsets import Isolation
from tests.fakes import broker as faults
from tests.fakes.asking import PATIENCE, Stopwatch, describe_offsets, described, errors, rows
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

VERSIONS = ["1.1.1", "2.5.1", "2.8.2", "3.9.1", "4.3.1", "4.4.0"]


def cluster(versions: str | dict[int, str] = "4.3.1", brokers: int = 2) -> FakeCluster:
    fake = FakeCluster(brokers, versions)
    fake.state.topic("t", [0, 1], start=10, end=100)
    members = (FakeMember("m", {"t": (0, 1)}),)
    fake.state.group("a", 0, state="Stable", members=members, commits={("t", 0): 60})
    fake.state.group("b", 1, commits={("t", 0): 5, ("t", 1): 100})
    return fake


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("selection", [Selection(everything=True), Selection(names=("b", "a"))])
def test_describe_offsets_is_the_same_on_every_version(version: str, selection: Selection) -> None:
    answer = describe_offsets(cluster(version), selection)
    assert not answer.failures
    seen = [(r.group, r.partition, r.current_offset, r.log_start_offset, r.log_end_offset, r.lag) for r in rows(answer)]
    assert seen == [
        ("a", 0, 60, 10, 100, 40),
        ("a", 1, None, 10, 100, None),
        ("b", 0, 5, 10, 100, 95),
        ("b", 1, 100, 10, 100, 0),
    ]
    assert rows(answer)[2].note == "data lost: 5 offsets deleted before they were read"
    assert {row.leader_epoch for row in rows(answer)} == {None, 4} if version > "2.1" else {None}


def thousand(version: str) -> FakeCluster:
    fake = FakeCluster(2, version)
    fake.state.topic("t", [0, 1, 0, 1])
    for at in range(1000):
        fake.state.group(f"g{at:04}", at % 2, commits={("t", at % 4): at})
    return fake


def test_describe_thousand_groups_batches_requests_without_lookup() -> None:
    fake = thousand("4.3.1")
    answer = describe_offsets(fake)
    assert len(answer.items) == 1000 and not answer.failures
    assert not fake.asked("FindCoordinator")
    for api, most in {"ListGroups": 2, "DescribeGroups": 2, "OffsetFetch": 2, "ListOffsets": 4, "Metadata": 2}.items():
        assert len(fake.asked(api)) <= most, api
    assert not fake.asked("ConsumerGroupDescribe")
    # The second connection is for OffsetFetch, which waits for replicas; it needs no ApiVersions.
    assert [broker.connections for broker in fake.brokers.values()] == [2, 2]
    assert len(fake.asked("ApiVersions")) == 2


def test_describe_on_old_cluster_pipelines_offset_fetch_without_lookup() -> None:
    fake = thousand("2.8.2")
    with Stopwatch() as watch:
        answer = describe_offsets(fake)
    assert len(answer.items) == 1000 and not answer.failures
    assert len(fake.asked("OffsetFetch")) == 1000 and len(fake.asked("DescribeGroups")) == 2
    assert not fake.asked("FindCoordinator")
    assert [broker.connections for broker in fake.brokers.values()] == [1, 1]
    assert watch.seconds == 0


def test_describe_mixed_cluster_uses_each_broker_version() -> None:
    fake = cluster({0: "4.3.1", 1: "1.1.1"})
    answer = describe_offsets(fake)
    assert described(answer) == ["a", "b"] and not answer.failures
    assert {(r.broker, r.version) for r in fake.asked("OffsetFetch")} == {(0, 9), (1, 3)}


@pytest.mark.parametrize(
    ("isolation", "lags"), [("READ_COMMITTED", [20, None, 75, -20]), ("READ_UNCOMMITTED", [40, None, 95, 0])]
)
def test_describe_read_committed_uses_the_last_stable_offset(isolation: str, lags: list[int | None]) -> None:
    fake = cluster()
    fake.state.topics["t"].stable = 80
    assert [row.lag for row in rows(describe_offsets(fake, isolation=Isolation[isolation]))] == lags


def test_describe_topic_limits_rows_and_requests() -> None:
    fake = cluster()
    fake.state.topic("u", [0])
    fake.state.group("c", 0, commits={("t", 1): 1, ("u", 0): 1})
    answer = describe_offsets(fake, Selection(topics=frozenset({"u"})))
    assert [(row.group, row.topic) for row in rows(answer)] == [("c", "u")]
    assert [request.keys for request in fake.asked("ListOffsets")] == [("u",), ("u",)]


def test_describe_whole_topics_reads_all_partitions() -> None:
    fake = cluster()
    fake.state.topic("u", [0, 1, 0])
    fake.state.group("c", 0, commits={("u", 1): 1})
    (item,) = describe_offsets(fake, Selection(names=("c",)), whole_topics=True).items
    assert sorted(item.logs.offsets["u"]) == [0, 1, 2] and not item.logs.holes
    assert sorted(item.logs.offsets) == ["u"]


@pytest.mark.parametrize("hangs_on", ["*", "ListGroups", "DescribeGroups", "OffsetFetch", "ListOffsets"])
def test_describe_hung_broker_costs_one_timeout_and_keeps_the_others(hangs_on: str) -> None:
    fake = cluster()

    async def hang() -> None:
        fake.brokers[1].fault(hangs_on, faults.silence)

    with Stopwatch() as watch:
        answer = describe_offsets(fake, via=(0,), before=hang, broker_timeout=PATIENCE)
    assert "a" in described(answer)
    assert answer.failures and {failure.broker for failure in answer.failures} == {1}
    assert any("no response to" in failure.message for failure in answer.failures)
    assert PATIENCE <= watch.seconds < 2 * PATIENCE


def test_describe_named_groups_on_hung_broker_costs_one_timeout() -> None:
    fake = cluster()
    fake.brokers[1].fault("DescribeGroups", faults.silence)
    with Stopwatch() as watch:
        answer = describe_offsets(fake, Selection(names=("a", "b")), via=(0,), broker_timeout=PATIENCE)
    assert described(answer) == ["a"]
    assert "b" in errors(answer)
    assert PATIENCE <= watch.seconds < 2 * PATIENCE


def test_describe_deadline_keeps_what_arrived() -> None:
    fake = cluster(brokers=3)
    fake.state.group("c", 2, commits={("t", 0): 1})
    fake.brokers[2].fault("OffsetFetch", faults.silence)
    with Stopwatch() as watch:
        answer = describe_offsets(fake, timeout=PATIENCE, broker_timeout=30)
    assert PATIENCE <= watch.seconds < 2 * PATIENCE
    assert described(answer) == ["a", "b"]
    assert "c" in errors(answer)


def test_describe_stopped_broker_loses_only_its_groups_and_partitions() -> None:
    fake = cluster()
    fake.brokers[1].alive = False
    answer = describe_offsets(fake, via=(0,))
    assert described(answer) == ["a"]
    assert [(row.partition, row.lag, bool(row.note)) for row in rows(answer)] == [(0, 40, False), (1, None, True)]
    assert {failure.broker for failure in answer.failures} == {1}


def test_describe_stopped_first_broker_keeps_the_others() -> None:
    """The bootstrap name differs from the advertised one: no connection to an advertised address exists yet."""
    fake = cluster()
    fake.brokers[0].alive = False
    fake.host = "localhost"
    answer = describe_offsets(fake, via=(1,))
    assert described(answer) == ["b"]
    assert {failure.broker for failure in answer.failures} == {0}


@pytest.mark.parametrize("fault", [faults.close, faults.cut_frame])
@pytest.mark.parametrize("api", ["DescribeGroups", "OffsetFetch", "ListOffsets"])
def test_describe_broker_that_always_disconnects_is_abandoned(api: str, fault: faults.Fault) -> None:
    fake = cluster()
    fake.brokers[1].fault(api, fault)
    with Stopwatch() as watch:
        answer = describe_offsets(fake, via=(0,), broker_timeout=PATIENCE)
    assert "a" in described(answer) and answer.failures
    assert watch.seconds == 0
    assert len(fake.brokers[1].requests) < 50


def test_describe_reconnects_after_one_disconnect() -> None:
    fake = cluster()
    fake.brokers[1].fault("OffsetFetch", faults.close, times=1)
    answer = describe_offsets(fake)
    assert described(answer) == ["a", "b"] and not answer.failures


def test_describe_reads_responses_in_small_chunks() -> None:
    fake = cluster()
    fake.brokers[1].fault("*", faults.dribble)
    answer = describe_offsets(fake)
    assert described(answer) == ["a", "b"] and not answer.failures


@pytest.mark.parametrize("kept", [4, 5, 12, -1])
def test_describe_truncated_offset_fetch_is_a_failure(kept: int) -> None:
    fake = cluster()
    fake.brokers[1].fault("OffsetFetch", faults.truncated(kept))
    answer = describe_offsets(fake)
    assert described(answer) == ["a"]
    (failure,) = answer.failures
    assert (failure.name, failure.api) == ("b", "OffsetFetch") and "undecodable" in failure.message


def test_describe_unauthorized_offsets_are_one_failure() -> None:
    fake = cluster()
    fake.state.fail("OffsetFetch", "b", ErrorCode.group_authorization_failed)
    fake.state.fail("DescribeGroups", "b", ErrorCode.group_authorization_failed)
    answer = describe_offsets(fake)
    assert described(answer) == ["a"]
    assert [(failure.name, failure.error) for failure in answer.failures] == [("b", "GROUP_AUTHORIZATION_FAILED")]


def test_describe_follows_coordinator_that_moves_before_offset_fetch() -> None:
    fake = cluster()
    fake.state.fail("OffsetFetch", "b", ErrorCode.not_coordinator, times=1)
    answer = describe_offsets(fake)
    assert described(answer) == ["a", "b"] and not answer.failures


def test_describe_deleted_topic_is_one_failure_and_keeps_the_commits() -> None:
    fake = cluster()
    del fake.state.topics["t"]
    answer = describe_offsets(fake)
    assert [(row.current_offset, row.lag) for row in rows(answer)] == [(60, None), (None, None), (5, None), (100, None)]
    assert errors(answer) == {"t": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert all(row.note and "does not exist" in row.note for row in rows(answer))


def test_describe_partition_missing_in_recreated_topic_is_a_failure() -> None:
    fake = cluster()
    fake.state.topics["t"].leaders = [0]
    answer = describe_offsets(fake)
    assert errors(answer) == {"t-1": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert [row.lag for row in rows(answer)] == [40, None, 95, None]


def test_describe_leaderless_partition_is_retried_then_reported() -> None:
    fake = cluster()
    fake.state.topics["t"].leaders = [0, -1]
    answer = describe_offsets(fake)
    assert errors(answer) == {"t-1": "LEADER_NOT_AVAILABLE"}
    assert [row.lag for row in rows(answer)] == [40, None, 95, None]
    assert len(fake.asked("Metadata")) == 4


def test_describe_follows_moved_leader() -> None:
    fake = cluster()
    fake.state.topics["t"].leader_seen = {1: [0, -1]}  # first the old leader, then none, then the new one
    answer = describe_offsets(fake)
    assert not answer.failures
    assert [row.lag for row in rows(answer)] == [40, None, 95, 0]
    assert [request.broker for request in fake.asked("ListOffsets")] == [0, 0, 1, 1]


def test_describe_leader_missing_in_metadata_is_a_failure() -> None:
    fake = cluster()
    fake.state.topics["t"].leaders = [0, 9]
    answer = describe_offsets(fake)
    (failure,) = answer.failures
    assert (failure.name, failure.broker) == ("t-1", 9) and "not in the cluster's metadata" in failure.message


def test_describe_unauthorized_topic_is_one_failure() -> None:
    fake = cluster()
    fake.state.fail("Metadata", "t", ErrorCode.topic_authorization_failed)
    assert errors(describe_offsets(fake)) == {"t": "TOPIC_AUTHORIZATION_FAILED"}


def test_describe_topic_missing_in_metadata_is_a_failure() -> None:
    fake = cluster()
    fake.state.omitted.add("t")
    answer = describe_offsets(fake)
    assert described(answer) == ["a", "b"]
    assert len(answer.failures) == 2


def test_describe_ignores_unrequested_topic_in_metadata() -> None:
    fake = cluster()
    fake.state.topic("u", [0])
    fake.state.unasked.append("u")
    answer = describe_offsets(fake)
    assert described(answer) == ["a", "b"] and not answer.failures


def test_describe_share_group_of_known_type_sends_no_offset_fetch() -> None:
    for selection in (Selection(everything=True), Selection(names=("s", "a"))):
        fake = cluster()
        fake.state.group("s", 0, type="Share", protocol_type="share")
        fake.state.fail("OffsetFetch", "s", ErrorCode.group_id_not_found)
        answer = describe_offsets(fake, selection)
        assert "s" in described(answer) and not answer.failures


def test_describe_all_reports_leaderless_offsets_partitions() -> None:
    fake = cluster()
    fake.state.topic("__consumer_offsets", [0, -1])
    assert "__consumer_offsets" in errors(describe_offsets(fake))
    assert not describe_offsets(cluster(), Selection(names=("a",))).failures
