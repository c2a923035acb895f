from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.routing.coordinators import Found, find_coordinators
from tests.fakes import broker as faults
from tests.fakes.asking import PATIENCE, Stopwatch, ask
from tests.fakes.broker import FakeCluster

GROUPS = [f"g{at:04}" for at in range(300)]


def cluster(versions: str | dict[int, str] = "4.3.1") -> FakeCluster:
    fake = FakeCluster(2, versions)
    for at, name in enumerate(GROUPS):
        fake.world.group(name, at % 2)
    return fake


def find(fake: FakeCluster, groups: list[str], **rest: object) -> Found:
    return ask(fake, lambda admin: find_coordinators(admin.cluster, groups), **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(("version", "requests"), [("4.3.1", 1), ("2.8.2", 300), ("1.1.1", 300)])
def test_one_request_where_a_broker_batches_else_one_a_group(version: str, requests: int) -> None:
    fake = cluster(version)
    found, failed = find(fake, [*GROUPS, GROUPS[0]])
    assert {name: node.id for name, node in found.items()} == {name: at % 2 for at, name in enumerate(GROUPS)}
    assert not failed
    assert len(fake.asked("FindCoordinator")) == requests
    assert all(broker.connections <= 1 for broker in fake.brokers.values())


def test_the_broker_that_batches_is_found_in_a_mixed_cluster() -> None:
    fake = cluster({0: "2.8.2", 1: "3.9.1"})
    found, _ = find(fake, GROUPS, via=(0,))
    assert len(found) == 300
    assert [request.broker for request in fake.asked("FindCoordinator")] == [1]


def test_a_coordinator_that_becomes_available_is_waited_for() -> None:
    fake = cluster()
    fake.world.fail("FindCoordinator", GROUPS[5], ErrorCode.coordinator_not_available, times=2)
    found, failed = find(fake, GROUPS)
    assert len(found) == 300 and not failed
    assert [len(request.keys) for request in fake.asked("FindCoordinator")] == [300, 1, 1]


def test_one_that_never_does_is_a_failure_when_patience_ends() -> None:
    fake = cluster()
    fake.world.fail("FindCoordinator", GROUPS[5], ErrorCode.coordinator_not_available)
    with Stopwatch() as watch:
        found, failed = find(fake, GROUPS, broker_timeout=PATIENCE)
    assert len(found) == 299
    assert failed[GROUPS[5]].error == "COORDINATOR_NOT_AVAILABLE"
    assert 0 < watch.seconds <= PATIENCE


def test_a_group_that_may_not_be_seen_fails_alone_and_at_once() -> None:
    fake = cluster()
    fake.world.fail("FindCoordinator", "g0001", ErrorCode.group_authorization_failed)
    found, failed = find(fake, ["g0000", "g0001"])
    assert (list(found), failed["g0001"].error) == (["g0000"], "GROUP_AUTHORIZATION_FAILED")
    assert len(fake.asked("FindCoordinator")) == 1


@pytest.mark.parametrize("version", ["4.3.1", "2.8.2"])
def test_another_broker_is_asked_when_one_hangs(version: str) -> None:
    fake = cluster(version)
    fake.brokers[0].fault("FindCoordinator", faults.silence)
    with Stopwatch() as watch:
        found, failed = find(fake, GROUPS, via=(0,), broker_timeout=PATIENCE)
    assert len(found) == 300 and not failed
    assert watch.seconds == pytest.approx(PATIENCE)


def test_a_group_that_is_left_out_of_the_answer_is_a_failure_not_nothing() -> None:
    fake = cluster()
    fake.world.omitted.add("g0001")
    found, failed = find(fake, ["g0000", "g0001"])
    assert (list(found), list(failed)) == (["g0000"], ["g0001"])


def test_when_nobody_answers_every_group_says_so() -> None:
    fake = cluster()
    for broker in fake.brokers.values():
        broker.fault("FindCoordinator", faults.close)
    found, failed = find(fake, GROUPS[:3])
    assert not found and [failure.api for failure in failed.values()] == ["FindCoordinator"] * 3
