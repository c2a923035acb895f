from __future__ import annotations

import asyncio

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.list_groups import CONSUMERS
from kgroups.admin.query.pattern import compile_pattern
from kgroups.admin.query.select_groups import Selection
from tests.fakes import broker as faults
from tests.fakes.asking import PATIENCE, describe, errors, names
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

VERSIONS = ["1.1.1", "2.5.1", "2.8.2", "3.9.1", "4.3.1", "4.4.0"]


def cluster(versions: str | dict[int, str] = "4.3.1") -> FakeCluster:
    fake = FakeCluster(2, versions)
    member = FakeMember("m", {"t": (0, 1)}, instance_id="static")
    fake.state.group("classic", 0, state="Stable", members=(member,))
    fake.state.group("empty", 1, protocol="", commits={("t", 0): 1})
    fake.state.group("connect", 1, state="Stable", protocol_type="connect", members=(FakeMember("w", {"x": (0,)}),))
    return fake


def with_kip_848(versions: str = "4.3.1") -> FakeCluster:
    fake = cluster(versions)
    member = FakeMember("n", {"t": (1,)})
    fake.state.group("kip848", 0, state="Stable", type="Consumer", protocol="uniform", members=(member,))
    if versions == "4.3.1":
        fake.state.group("streams", 0, state="Stable", type="Streams", protocol_type="streams")
    return fake


@pytest.mark.parametrize("version", VERSIONS)
def test_describe_all_groups_on_every_version(version: str) -> None:
    fake = cluster(version)
    answer = describe(fake)
    connect, classic, empty = (next(g for g in answer.items if g.group == n) for n in ("connect", "classic", "empty"))
    assert names(answer) == ["classic", "connect", "empty"] and not answer.failures
    assert (classic.state, classic.protocol, classic.coordinator.id, classic.type) == ("Stable", "range", 0, "Classic")
    assert [(m.member_id, str(m.assignment), m.subscription.topics) for m in classic.members or ()] == [
        ("m", "t:0,1", ("t",))
    ]
    assert [m.instance_id for m in classic.members or ()] == [None if version == "1.1.1" else "static"]
    assert (empty.members, empty.state) == ((), "Empty")
    assert connect.members and connect.members[0].assignment.raw
    assert not fake.asked("FindCoordinator")


@pytest.mark.parametrize("version", VERSIONS)
def test_describe_named_groups_on_every_version_reports_missing_ones(version: str) -> None:
    answer = describe(cluster(version), Selection(names=("empty", "classic", "nope")))
    assert names(answer) == ["classic", "empty"]
    assert errors(answer) == {"nope": "GROUP_ID_NOT_FOUND"}


@pytest.mark.parametrize("version", ["3.9.1", "4.3.1"])
@pytest.mark.parametrize("selection", [Selection(everything=True), Selection(names=("kip848", "classic"))])
def test_describe_sends_the_api_of_the_group_type_or_both(version: str, selection: Selection) -> None:
    fake = with_kip_848(version)
    answer = describe(fake, selection)
    kip848 = next(group for group in answer.items if group.group == "kip848")
    assert (kip848.type, kip848.protocol, kip848.group_epoch, kip848.target_assignment_epoch) == (
        "Consumer",
        "uniform",
        7,
        7,
    )
    (member,) = kip848.members or ()
    assert (str(member.assignment), member.member_epoch, member.upgraded) == (
        "t:1",
        7,
        True if version == "4.3.1" else None,
    )
    assert "classic" in names(answer) and not answer.failures
    if selection.everything:
        assert all("kip848" not in request.keys for request in fake.asked("DescribeGroups"))


def test_describe_combines_names_and_pattern() -> None:
    fake = cluster()
    answer = describe(fake, Selection(names=("empty", "nope"), pattern=compile_pattern("c.*", "--regex")))
    assert names(answer) == ["classic", "connect", "empty"]
    assert errors(answer) == {"nope": "GROUP_ID_NOT_FOUND"}
    assert [request.keys for request in fake.asked("FindCoordinator")] == [("nope",)]


def test_describe_pattern_matches_the_whole_name() -> None:
    assert names(describe(cluster(), Selection(pattern=compile_pattern("c", "--regex")))) == []


def test_describe_among_consumers_keeps_named_groups_of_other_types() -> None:
    everything = Selection(everything=True)
    assert "connect" in names(describe(cluster(), everything))
    assert "streams" in names(describe(with_kip_848(), everything))
    only = everything._replace(among=CONSUMERS)
    assert names(describe(cluster(), only)) == ["classic", "empty"]
    assert "streams" not in names(describe(with_kip_848(), only))
    assert names(describe(cluster(), only._replace(names=("connect",), everything=False))) == ["connect"]


def test_describe_topic_selects_by_commits_and_assignments() -> None:
    assert names(describe(cluster(), Selection(topics=frozenset({"t"})))) == ["classic", "empty"]
    assert names(describe(cluster(), Selection(names=("classic",), topics=frozenset({"t"})))) == ["classic"]
    assert names(describe(cluster(), Selection(topics=frozenset({"none"})))) == []


def test_describe_finds_moved_coordinator() -> None:
    fake = cluster()
    fake.state.fail("DescribeGroups", "empty", ErrorCode.not_coordinator, times=1)
    answer = describe(fake)
    assert len(answer.items) == 3 and not answer.failures
    assert [request.keys for request in fake.asked("FindCoordinator")] == [("empty",)]


def test_describe_follows_group_that_moves_after_listing() -> None:
    fake = cluster()

    async def list_then_move(writer: asyncio.StreamWriter, answer: bytes) -> None:
        fake.state.groups["classic"].coordinator = 1
        writer.write(faults.framed(answer))

    fake.brokers[0].fault("ListGroups", list_then_move)
    answer = describe(fake)
    assert [group.coordinator.id for group in answer.items if group.group == "classic"] == [1]
    assert not answer.failures


def test_describe_retries_loading_coordinator_in_place() -> None:
    fake = cluster()
    fake.state.fail("DescribeGroups", "classic", ErrorCode.coordinator_load_in_progress, times=2)
    answer = describe(fake)
    assert len(answer.items) == 3 and not answer.failures
    assert not fake.asked("FindCoordinator")
    assert [request.keys for request in fake.asked("DescribeGroups") if request.broker == 0] == [("classic",)] * 3


@pytest.mark.parametrize(
    "code", [ErrorCode.not_coordinator, ErrorCode.coordinator_load_in_progress, ErrorCode.coordinator_not_available]
)
def test_describe_unready_coordinator_after_timeout_is_a_failure(code: ErrorCode) -> None:
    fake = cluster()
    fake.state.fail("DescribeGroups", "classic", code)
    answer = describe(fake, broker_timeout=PATIENCE)
    assert names(answer) == ["connect", "empty"]
    assert errors(answer) == {"classic": code.name.upper()}


def test_describe_group_that_vanished_after_listing_is_a_failure() -> None:
    fake = cluster()
    fake.state.fail("DescribeGroups", "empty", ErrorCode.group_id_not_found)
    answer = describe(fake)
    assert names(answer) == ["classic", "connect"]
    (failure,) = answer.failures
    assert (failure.name, failure.error) == ("empty", "GROUP_ID_NOT_FOUND") and "vanished" in failure.message


def test_describe_unauthorized_group_keeps_the_others() -> None:
    fake = cluster()
    fake.state.fail("DescribeGroups", "empty", ErrorCode.group_authorization_failed)
    answer = describe(fake)
    assert names(answer) == ["classic", "connect"]
    assert errors(answer) == {"empty": "GROUP_AUTHORIZATION_FAILED"}


@pytest.mark.parametrize(
    "selection",
    [Selection(everything=True), Selection(names=("classic", "empty")), Selection(names=("kip848", "empty"))],
)
def test_describe_group_missing_in_response_is_a_failure(selection: Selection) -> None:
    fake = with_kip_848()
    fake.state.omitted |= {"classic", "kip848"}
    answer = describe(fake, selection)
    assert set(errors(answer)) == {"classic", "kip848"} & (set(selection.names) or {"classic", "kip848"})
    assert "empty" in names(answer)


def test_describe_truncated_response_fails_its_groups() -> None:
    fake = cluster()
    fake.brokers[1].fault("DescribeGroups", faults.truncated(-1))
    answer = describe(fake)
    assert names(answer) == ["classic"]
    assert set(errors(answer)) == {"connect", "empty"}
    assert "undecodable DescribeGroupsResponse" in answer.failures[0].message


def test_describe_undecodable_assignment_is_kept_raw() -> None:
    fake = cluster()
    fake.state.groups["classic"].members = (FakeMember("m", garbage=b"\0\0\0\0\0\x09"),)
    (member,) = describe(fake, Selection(names=("classic",))).items[0].members or ()
    assert member.assignment.raw and member.assignment.size is None


def test_describe_stopped_coordinator_keeps_other_named_groups() -> None:
    fake = cluster()
    fake.brokers[1].alive = False
    answer = describe(fake, Selection(names=("classic", "empty")), via=(0,))
    assert names(answer) == ["classic"]
    (failure,) = answer.failures
    assert failure.name == "empty" and "connection refused" in failure.message
