"""Coordinators that move during a list: all groups are listed, or what is missing is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.routing.coverage import probes
from kgroups.model.groups import ListedGroup
from kgroups.model.outcome import Failure, Outcome
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from tests.fakes import broker as faults
from tests.fakes.asking import describe_offsets, described, list_groups, names
from tests.fakes.broker import FakeCluster

UNKNOWN = ErrorCode.unknown_topic_or_partition

GROUPS = probes(4)
"""A group on each of four partitions."""


def cluster(leaders: tuple[int, ...] = (0, 1, 0, 1), brokers: int = 2, version: str = "4.3.1") -> FakeCluster:
    fake = FakeCluster(brokers, version)
    fake.state.topic(OFFSETS_TOPIC, list(leaders))
    fake.state.coordinators = dict(enumerate(leaders))
    for at, name in enumerate(GROUPS):
        fake.state.group(name, leaders[at], state="Stable")
    return fake


def move(fake: FakeCluster, partition: int, to: int, *, ready: bool = True) -> None:
    """Elects another leader, that has loaded the groups or has not begun to."""
    fake.state.topics[OFFSETS_TOPIC].leaders[partition] = to
    fake.state.topics[OFFSETS_TOPIC].epochs[partition] = 1
    assert fake.state.coordinators is not None
    fake.state.coordinators[partition] = to if ready else None
    fake.state.groups[GROUPS[partition]].coordinator = to


def when(fake: FakeCluster, broker: int, api: str, act: Callable[[], None], *, after: int = 0) -> None:
    """Lets something happen right after a broker has made up its answer to a request, the first or a later one."""

    async def fault(writer: asyncio.StreamWriter, answer: bytes) -> None:
        act()
        writer.write(faults.framed(answer))

    async def none(writer: asyncio.StreamWriter, answer: bytes) -> None:
        writer.write(faults.framed(answer))

    if after:
        fake.brokers[broker].fault(api, none, times=after)
    fake.brokers[broker].fault(api, fault, times=1)


def only(answer: Outcome[ListedGroup]) -> Failure:
    (failure,) = answer.failures
    return failure


@pytest.mark.parametrize("partitions", [1, 2, 12, 50, 200])
def test_probes_cover_each_partition(partitions: int) -> None:
    assert [partition_of(name, partitions) for name in probes(partitions)] == list(range(partitions))


@pytest.mark.parametrize("version", ["1.1.1", "2.5.1", "2.8.2", "3.9.1", "4.3.1"])
def test_list_stable_cluster_is_listed_once(version: str) -> None:
    fake = cluster(version=version)
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures
    assert len(fake.asked("Metadata")) == 1 and len(fake.asked("ListGroups")) == 2
    assert len(fake.asked("DescribeGroups")) == 4


def test_list_skips_brokers_without_offsets_partitions() -> None:
    fake = cluster((0, 0, 0, 0))
    fake.brokers[1].fault("*", faults.silence)
    answer = list_groups(fake, via=(0,))
    assert names(answer) == sorted(GROUPS) and not answer.failures
    assert not fake.brokers[1].requests


def test_list_repeats_at_new_leader_after_takeover() -> None:
    """Metadata names the new leader from the start, and never changes."""
    fake = cluster()
    move(fake, 0, 1, ready=False)
    when(fake, 1, "ListGroups", lambda: move(fake, 0, 1), after=2)
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures
    assert len(fake.brokers[1].requests) > len(fake.brokers[0].requests)
    assert [request.broker for request in fake.asked("ListGroups")] == [0, 1, 1, 1, 1]


def test_list_includes_leader_found_by_later_metadata() -> None:
    fake = cluster((0, 0, 0, 0))
    fake.state.topics[OFFSETS_TOPIC].leader_seen[2] = [0]
    move(fake, 2, 1)
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures
    assert {group.group: group.coordinator.id for group in answer.items}[GROUPS[2]] == 1


def test_list_ignores_one_broker_with_stale_metadata() -> None:
    fake = cluster((0, 0, 0, 0))
    fake.brokers[0].stale[OFFSETS_TOPIC] = [0, 0, 0, 0]
    move(fake, 2, 1)
    answer = list_groups(fake, via=(0,))
    assert names(answer) == sorted(GROUPS) and not answer.failures


def test_list_names_partitions_if_broker_forgets_offsets_topic() -> None:
    fake = cluster()
    move(fake, 0, 1, ready=False)
    when(fake, 0, "ListGroups", lambda: fake.state.fail("Metadata", OFFSETS_TOPIC, UNKNOWN))
    answer = list_groups(fake, broker_timeout=0.5)
    assert len(answer.items) == 3 and "1 of 4 partitions" in only(answer).message


def test_list_detects_coordinator_that_resigns_between_requests() -> None:
    fake = cluster()
    when(fake, 0, "DescribeGroups", lambda: move(fake, 0, 1))
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures


def test_list_detects_coordinator_that_takes_over_between_requests() -> None:
    fake = cluster()
    move(fake, 0, 1, ready=False)
    when(fake, 1, "ListGroups", lambda: move(fake, 0, 1))
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures


def test_list_waits_for_coordinator_that_starts_loading() -> None:
    fake = cluster()
    move(fake, 0, 1, ready=False)
    fake.state.loading.add((1, 0))

    def loaded() -> None:
        move(fake, 0, 1)
        fake.state.loading.clear()

    when(fake, 1, "ListGroups", loaded, after=1)
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures


def test_list_names_partitions_that_do_not_settle() -> None:
    fake = cluster()
    move(fake, 0, 1, ready=False)
    move(fake, 2, 1, ready=False)
    answer = list_groups(fake, broker_timeout=0.5)
    assert names(answer) == sorted([GROUPS[1], GROUPS[3]]) and answer.exit_code == 1
    failure = only(answer)
    assert (failure.name, failure.error) == (OFFSETS_TOPIC, "NOT_COORDINATOR")
    assert "2 of 4 partitions" in failure.message and "(partitions 0, 2)" in failure.message


def test_describe_covers_moving_coordinators_like_list() -> None:
    fake = cluster()
    move(fake, 0, 1, ready=False)
    when(fake, 1, "ListGroups", lambda: move(fake, 0, 1), after=1)
    answer = describe_offsets(fake)
    assert described(answer) == sorted(GROUPS) and not answer.failures
    fake = cluster()
    move(fake, 0, 1, ready=False)
    answer = describe_offsets(fake, broker_timeout=0.5)
    assert len(answer.items) == 3 and [failure.name for failure in answer.failures] == [OFFSETS_TOPIC]


def test_list_stopped_broker_is_ignored_after_takeover() -> None:
    fake = cluster()
    for at in (0, 2):
        fake.state.topics[OFFSETS_TOPIC].leader_seen[at] = [0]
        move(fake, at, 1)
    fake.brokers[0].alive = False
    answer = list_groups(fake, via=(1,))
    assert names(answer) == sorted(GROUPS) and not answer.failures


def test_list_broker_stopped_after_its_list_is_replaced() -> None:
    fake = cluster()

    def end() -> None:
        move(fake, 0, 1)
        move(fake, 2, 1)

    when(fake, 0, "ListGroups", end)
    fake.brokers[0].fault("DescribeGroups", faults.late(0), times=1)
    fake.brokers[0].fault("DescribeGroups", faults.close)
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures


def test_list_stopped_broker_that_still_leads_is_a_failure() -> None:
    fake = cluster()
    fake.brokers[0].alive = False
    answer = list_groups(fake, via=(1,))
    assert names(answer) == sorted([GROUPS[1], GROUPS[3]])
    assert only(answer).broker == 0 and "connection refused" in only(answer).message


def test_list_includes_partition_that_gets_a_leader() -> None:
    fake = cluster()
    fake.state.topics[OFFSETS_TOPIC].leader_seen[0] = [-1]
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures


@pytest.mark.parametrize("moves", [False, True])
def test_list_without_probe_permission_compares_leaders(moves: bool) -> None:
    fake = cluster()
    for name in GROUPS:
        fake.state.fail("DescribeGroups", name, ErrorCode.group_authorization_failed)
    if moves:
        when(fake, 0, "DescribeGroups", lambda: move(fake, 0, 1))
    answer = list_groups(fake)
    assert names(answer) == sorted(GROUPS) and not answer.failures
    assert len(fake.asked("ListGroups")) == (3 if moves else 2)
