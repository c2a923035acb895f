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
        fake.state.group(name, at % 2)
    return fake


def find(fake: FakeCluster, groups: list[str], **rest: object) -> Found:
    return ask(fake, lambda admin: find_coordinators(admin.cluster, groups), **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(("version", "requests"), [("4.3.1", 1), ("2.8.2", 300), ("1.1.1", 300)])
def test_find_coordinators_batches_or_sends_one_request_per_group(version: str, requests: int) -> None:
    fake = cluster(version)
    found, failed = find(fake, [*GROUPS, GROUPS[0]])
    assert {name: node.id for name, node in found.items()} == {name: at % 2 for at, name in enumerate(GROUPS)}
    assert not failed
    assert len(fake.asked("FindCoordinator")) == requests
    assert all(broker.connections <= 1 for broker in fake.brokers.values())


def test_find_coordinators_prefers_batching_broker_in_mixed_cluster() -> None:
    fake = cluster({0: "2.8.2", 1: "3.9.1"})
    found, _ = find(fake, GROUPS, via=(0,))
    assert len(found) == 300
    assert [request.broker for request in fake.asked("FindCoordinator")] == [1]


def test_find_coordinators_retries_unavailable_coordinator() -> None:
    fake = cluster()
    fake.state.fail("FindCoordinator", GROUPS[5], ErrorCode.coordinator_not_available, times=2)
    found, failed = find(fake, GROUPS)
    assert len(found) == 300 and not failed
    assert [len(request.keys) for request in fake.asked("FindCoordinator")] == [300, 1, 1]


def test_find_coordinators_unavailable_until_timeout_is_a_failure() -> None:
    fake = cluster()
    fake.state.fail("FindCoordinator", GROUPS[5], ErrorCode.coordinator_not_available)
    with Stopwatch() as watch:
        found, failed = find(fake, GROUPS, broker_timeout=PATIENCE)
    assert len(found) == 299
    assert failed[GROUPS[5]].error == "COORDINATOR_NOT_AVAILABLE"
    assert 0 < watch.seconds <= PATIENCE


def test_find_coordinators_unauthorized_group_fails_alone_at_once() -> None:
    fake = cluster()
    fake.state.fail("FindCoordinator", "g0001", ErrorCode.group_authorization_failed)
    found, failed = find(fake, ["g0000", "g0001"])
    assert (list(found), failed["g0001"].error) == (["g0000"], "GROUP_AUTHORIZATION_FAILED")
    assert len(fake.asked("FindCoordinator")) == 1


@pytest.mark.parametrize("version", ["4.3.1", "2.8.2"])
def test_find_coordinators_asks_another_broker_if_one_hangs(version: str) -> None:
    fake = cluster(version)
    fake.brokers[0].fault("FindCoordinator", faults.silence)
    with Stopwatch() as watch:
        found, failed = find(fake, GROUPS, via=(0,), broker_timeout=PATIENCE)
    assert len(found) == 300 and not failed
    assert watch.seconds == pytest.approx(PATIENCE)


def test_find_coordinators_group_missing_in_response_is_a_failure() -> None:
    fake = cluster()
    fake.state.omitted.add("g0001")
    found, failed = find(fake, ["g0000", "g0001"])
    assert (list(found), list(failed)) == (["g0000"], ["g0001"])


def test_find_coordinators_without_any_broker_fails_every_group() -> None:
    fake = cluster()
    for broker in fake.brokers.values():
        broker.fault("FindCoordinator", faults.close)
    found, failed = find(fake, GROUPS[:3])
    assert not found and [failure.api for failure in failed.values()] == ["FindCoordinator"] * 3
