from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.list_groups import ListFilter, stream_groups
from kgroups.admin.routing.coverage import missing_coordinators
from kgroups.admin.wire import WireClient
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import kafka_error
from tests.fakes import broker as faults
from tests.fakes.asking import PATIENCE, Stopwatch, ask, errors, list_groups, names
from tests.fakes.broker import FakeCluster


def cluster(versions: str | dict[int, str] = "4.3.1", brokers: int = 2) -> FakeCluster:
    fake = FakeCluster(brokers, versions)
    fake.state.group("stable", 0, state="Stable")
    fake.state.group("empty", 1, state="Empty")
    fake.state.group("connect", 1, state="Stable", protocol_type="connect")
    return fake


def test_list_all_brokers_sorts_names() -> None:
    fake = cluster()
    answer = list_groups(fake)
    assert names(answer) == ["connect", "empty", "stable"]
    assert [(g.coordinator.id, g.state, g.type) for g in answer.items][2] == (0, "Stable", "Classic")
    assert (answer.failures, answer.notices) == ((), ())
    assert len(fake.asked("ListGroups")) == 2 and not fake.asked("FindCoordinator")


@pytest.mark.parametrize("version", ["1.1.1", "2.5.1", "2.8.2", "3.9.1", "4.3.1", "4.4.0"])
def test_list_state_filter_is_the_same_on_every_version(version: str) -> None:
    fake = cluster(version)
    answer = list_groups(fake, ListFilter(states=("Stable",)))
    assert names(answer) == ["connect", "stable"]
    assert not answer.failures
    assert bool(fake.asked("DescribeGroups")) == (version in ("1.1.1", "2.5.1"))


@pytest.mark.parametrize(("version", "state"), [("1.1.1", None), ("2.8.2", "Empty")])
def test_list_without_states_does_not_describe(version: str, state: str | None) -> None:
    fake = cluster(version)
    answer = list_groups(fake)
    assert (answer.items[1].state, answer.items[1].type) == (state, None)
    assert not fake.asked("DescribeGroups")


def test_list_states_on_old_broker_needs_one_describe_per_broker() -> None:
    fake = cluster("1.1.1")
    for at in range(400):
        fake.state.group(f"g{at}", at % 2, state="Stable")
    answer = list_groups(fake, ListFilter(with_states=True))
    assert {group.state for group in answer.items} == {"Stable", "Empty"} and len(answer.items) == 403
    assert len(fake.asked("DescribeGroups")) == 2 and not fake.asked("FindCoordinator")


def test_list_group_that_vanished_before_describe_is_omitted() -> None:
    fake = cluster("2.5.1")
    fake.state.fail("DescribeGroups", "empty", ErrorCode.group_id_not_found)
    answer = list_groups(fake, ListFilter(with_states=True))
    assert names(answer) == ["connect", "stable"] and not answer.failures


def test_list_type_filter_on_old_brokers_is_one_failure_each() -> None:
    answer = list_groups(cluster("2.8.2"), ListFilter(types=("Consumer",)))
    assert not answer.items
    assert [(failure.broker, "does not report group types" in failure.message) for failure in answer.failures] == [
        (0, True),
        (1, True),
    ]


def test_list_type_column_on_old_brokers_is_a_notice() -> None:
    answer = list_groups(cluster("2.8.2"), ListFilter(with_types=True))
    assert len(answer.items) == 3 and not answer.failures
    assert len(answer.notices) == 2 and "TYPE is unknown" in answer.notices[0]


def test_list_during_upgrade_returns_what_brokers_support() -> None:
    mixed = {0: "4.3.1", 1: "2.5.1"}
    answer = list_groups(cluster(mixed), ListFilter(states=("Stable",)))
    assert [(group.group, group.type) for group in answer.items] == [("connect", None), ("stable", "Classic")]
    answer = list_groups(cluster(mixed), ListFilter(types=("Classic",)))
    assert names(answer) == ["stable"] and [failure.broker for failure in answer.failures] == [1]


def test_list_filters_by_protocol_type() -> None:
    assert names(list_groups(cluster(), ListFilter(protocol_types=("connect",)))) == ["connect"]


def test_list_retries_loading_coordinator() -> None:
    fake = cluster()
    fake.state.fail("ListGroups", "1", ErrorCode.coordinator_load_in_progress, times=2)
    answer = list_groups(fake)
    assert len(answer.items) == 3 and not answer.failures
    assert len(fake.asked("ListGroups")) == 4


def test_list_coordinator_that_keeps_loading_is_a_failure_with_its_groups() -> None:
    fake = cluster()
    fake.state.fail("ListGroups", "1", ErrorCode.coordinator_load_in_progress)
    answer = list_groups(fake, broker_timeout=PATIENCE)
    assert len(answer.items) == 3
    assert [(failure.broker, failure.error) for failure in answer.failures] == [(1, "COORDINATOR_LOAD_IN_PROGRESS")]


def test_list_permanent_error_is_not_retried() -> None:
    fake = cluster()
    fake.state.fail("ListGroups", "1", ErrorCode.cluster_authorization_failed)
    answer = list_groups(fake)
    assert list(errors(answer).values()) == ["CLUSTER_AUTHORIZATION_FAILED"]
    assert len(fake.asked("ListGroups")) == 2


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.silence, "no response to ListGroups"),
        (faults.close, "closed the connection"),
        (faults.cut_frame, "bytes into a response"),
        (faults.truncated(-2), "undecodable"),
        (faults.trailing, "after the end"),
        (faults.raw(b"\x15\x03\x03\x00\x02\x02\x50"), "speaks TLS"),
    ],
)
def test_list_failing_broker_is_named_and_keeps_other_groups(fault: faults.Fault, words: str) -> None:
    fake = cluster()
    fake.brokers[1].fault("ListGroups", fault)
    with Stopwatch() as watch:
        answer = list_groups(fake, via=(0,), broker_timeout=PATIENCE)
    assert names(answer) == ["stable"]
    (failure,) = answer.failures
    assert failure.broker == 1 and words in failure.message
    assert watch.seconds == (pytest.approx(PATIENCE) if fault is faults.silence else 0)


def test_stream_groups_yields_each_broker_list_on_arrival() -> None:
    fake = cluster()
    free = asyncio.Event()

    async def when_free(writer: asyncio.StreamWriter, answer: bytes) -> None:
        await free.wait()
        writer.write(faults.framed(answer))

    fake.brokers[0].fault("ListGroups", when_free)

    async def query(admin: WireClient) -> list[list[str]]:
        seen: list[list[str]] = []
        async with aclosing(stream_groups(admin.cluster)) as outcomes:
            async for outcome in outcomes:
                seen.append(sorted(names(outcome)))
                free.set()
        return seen

    assert ask(fake, query, via=(1,)) == [["connect", "empty"], ["stable"], []]


def test_list_group_on_two_brokers_is_shown_once_and_not_dead() -> None:
    fake = FakeCluster(2)
    for at in (0, 1):
        fake.state.group(f"moving-{at}", at, state="Stable", dead_on=1 - at)
    fake.state.group("gone", 0, state="Dead")
    answer = list_groups(fake)
    assert [(group.group, group.state) for group in answer.items] == [
        ("gone", "Dead"),
        ("moving-0", "Stable"),
        ("moving-1", "Stable"),
    ]


def test_list_stopped_broker_is_named_once() -> None:
    fake = cluster()
    fake.brokers[1].alive = False
    answer = list_groups(fake, via=(0,))
    (failure,) = answer.failures
    assert names(answer) == ["stable"]
    assert failure.name.startswith("broker 1 (127.0.0.1:") and failure.message == "connection refused"


def test_list_reports_leaderless_offsets_partitions() -> None:
    fake = cluster()
    fake.state.topic("__consumer_offsets", [0, -1, 1, -1])
    answer = list_groups(fake)
    assert len(answer.items) == 3
    (failure,) = answer.failures
    assert failure.name == "__consumer_offsets" and "2 of 4 partitions" in failure.message and "1, 3" in failure.message


def test_missing_coordinators_without_offsets_topic_is_empty() -> None:
    error = kafka_error(ErrorCode.unknown_topic_or_partition)
    assert missing_coordinators([TopicLeaders("__consumer_offsets", error, {})]) == ()
    assert missing_coordinators([TopicLeaders("__consumer_offsets", None, {0: 1, 1: 2})]) == ()
