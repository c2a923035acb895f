"""The Python API for several clusters, over fake brokers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kgroups import AsyncFleet, Fleet, Limits, Severity, Threshold, UsageError
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.serving import serving


def _cluster(cluster_id: str, lag: int, *more: str) -> FakeCluster:
    fake = FakeCluster(2, "4.3.1")
    fake.state.cluster_id = cluster_id
    fake.state.topic("orders", [0], end=100)
    for group in ("orders", *more):
        fake.state.group(group, 0, commits={("orders", 0): 100 - lag})
    return fake


@pytest.fixture
def clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The profiles eu, us, hung, and again, which is eu, too."""
    fakes = {"eu": _cluster("E", 5), "us": _cluster("U", 50, "bills"), "hung": _cluster("H", 0)}
    for broker in fakes["hung"].brokers.values():
        broker.fault("*", silence)
    with ExitStack() as stack:
        for fake in fakes.values():
            stack.enter_context(serving(fake))
        servers = {name: f"127.0.0.1:{fake.brokers[0].port}" for name, fake in fakes.items()}
        servers["again"] = servers["eu"]
        file = tmp_path / "config.toml"
        file.write_text("".join(f'[profiles.{name}]\nbootstrap = "{each}"\n' for name, each in servers.items()))
        monkeypatch.setenv("KGROUPS_CONFIG", str(file))
        yield


@pytest.mark.usefixtures("clusters")
def test_items_have_their_clusters() -> None:
    fleet = Fleet("eu", "us")
    assert fleet.profiles == ("eu", "us")
    assert [(cluster, each.group) for cluster, each in fleet.list()] == [
        ("eu", "orders"),
        ("us", "bills"),
        ("us", "orders"),
    ]
    assert [(cluster, each.state) for cluster, each in fleet.describe("bills")] == [("us", "Empty")]
    assert {cluster: row.current_offset for cluster, row in fleet.offsets("orders")} == {"eu": 95, "us": 50}
    assert {cluster: row.total_lag for cluster, row in fleet.lag("orders", by="topic")} == {"eu": 5, "us": 50}
    assert [each["cluster"] for each in fleet.lag("orders").to_dicts()] == ["eu", "us"]


@pytest.mark.usefixtures("clusters")
def test_cluster_that_fails_is_a_failure_and_others_are_complete() -> None:
    outcome = Fleet("eu", "hung", cluster_timeout=1).lag("orders")
    assert [cluster for cluster, _ in outcome] == ["eu"]
    assert [failure.cluster for failure in outcome.failures] == ["hung"]


@pytest.mark.usefixtures("clusters")
def test_group_that_no_cluster_has_is_one_failure() -> None:
    assert [failure.name for failure in Fleet("eu", "us").describe("nosuch", "bills").failures] == ["nosuch"]


@pytest.mark.usefixtures("clusters")
def test_cluster_of_two_profiles_is_queried_once() -> None:
    outcome = Fleet("again", "eu").list()
    assert [cluster for cluster, _ in outcome] == ["again"]
    assert outcome.notices == ("eu and again are the same cluster, shown once, as again",)


@pytest.mark.usefixtures("clusters")
def test_check_reports_the_worst_of_all_clusters() -> None:
    limits = Limits(lag=Threshold(critical=10))
    report = Fleet("eu", "us").check("orders", limits=limits)
    assert (report.severity, report.clusters) == (Severity.CRITICAL, {"eu": "E", "us": "U"})
    assert [(each.cluster, each.message) for each in report.bad] == [("us", "lag 50 is above 10")]
    report = Fleet("eu", "hung", cluster_timeout=1).check("orders", limits=limits)
    assert [(each.cluster, each.severity) for each in report.bad] == [("hung", Severity.UNKNOWN)]
    trend = Fleet("eu", "us").check("orders", limits=Limits(trend=True), window=0.02, samples=2)
    assert [(each.cluster, each.check) for each in trend.bad] == [("eu", "trend"), ("us", "trend")]


@pytest.mark.usefixtures("clusters")
def test_fleet_is_asked_in_an_event_loop() -> None:
    async def ask() -> list[str]:
        return [cluster for cluster, _ in await AsyncFleet("*", "!hung").describe("orders")]

    assert asyncio.run(ask()) == ["eu", "us"]


@pytest.mark.usefixtures("clusters")
def test_invalid_arguments_are_errors_before_a_cluster_is_queried() -> None:
    for wrong in ((), ("nosuch",), ("x*",), (3,)):
        with pytest.raises(UsageError):
            Fleet(*wrong)  # type: ignore[arg-type]
    fleet = Fleet("hung")
    for ask in (lambda: fleet.describe(), lambda: fleet.lag("a", by="x"), lambda: fleet.list(states=["no"])):
        with pytest.raises(UsageError):
            ask()
