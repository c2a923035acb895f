"""``kgroups watch`` of several clusters, over fake brokers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from kgroups.admin.query.select_groups import Selection
from kgroups.cli.frame.fleet import fleet_of
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.flags import Flags
from kgroups.errors import AuthenticationFailed, Reason
from kgroups.model.offsets import Isolation
from kgroups.watch import sources
from kgroups.watch.group_page import explained, read_time_lags
from kgroups.watch.reset import PlannedReset
from kgroups.watch.state.watching import GroupKey
from kgroups.watch.tick import Tick
from kgroups.watch.ticks import Ticks
from tests.fakes.broker import FakeCluster, silence

Run = Callable[..., tuple[int, str, str]]
Serve = Callable[..., Any]
Profiles = Callable[..., None]
Watching = Callable[..., Iterator[Tick]]
LEVEL = Isolation.READ_UNCOMMITTED


def shop(cluster_id: str, lag: int) -> Callable[[FakeCluster], None]:
    def fill(fake: FakeCluster) -> None:
        fake.state.cluster_id = cluster_id
        fake.state.topic("orders", [0], end=100)
        fake.state.group("both", 0, commits={("orders", 0): 100 - lag})

    return fill


def silent(served: Any) -> None:
    for broker in served.fake.brokers.values():
        broker.fault("*", silence)


def recover(served: Any) -> None:
    for broker in served.fake.brokers.values():
        broker.recover()


def connections(served: Any) -> int:
    return sum(broker.connections for broker in served.fake.brokers.values())


def options(*names: str, cluster_timeout: float = 30) -> ConnectionOptions:
    shared, fleet = fleet_of(names, Flags(), cluster_timeout)
    return ConnectionOptions(shared, False, fleet=fleet)


@pytest.fixture
def watching() -> Iterator[Watching]:
    """Watch the clusters of profiles: each element is a refresh."""
    with ExitStack() as stack:

        def start(*names: str, cluster_timeout: float = 30, on_screen: bool = False) -> Iterator[Tick]:
            connection = options(*names, cluster_timeout=cluster_timeout)
            ticks = Ticks(connection, Selection(everything=True), LEVEL, 0.01, None, on_screen=on_screen)
            return iter(stack.enter_context(closing(iter(ticks))))  # type: ignore[type-var]  # a generator

        yield start


def shown(tick: Tick) -> dict[str, tuple[int | None, bool]]:
    """Return the lag of the group of each cluster, and whether it is stale."""
    return {row.cluster: (row.total_lag, row.stale) for row in tick.rows}


def test_each_row_has_its_cluster_and_its_own_history(serve: Serve, profiles: Profiles, watching: Watching) -> None:
    eu, us = serve(fill=shop("E", 5)), serve(fill=shop("U", 50))
    profiles(eu=eu.bootstrap, us=us.bootstrap)
    polls = watching("us", "eu")
    first = next(polls)
    assert ([row.key for row in first.rows], first.ids) == (
        [GroupKey("eu", "both"), GroupKey("us", "both")],
        {"eu": "E", "us": "U"},
    )
    us.state.groups["both"].commits["orders", 0] = 60
    second = next(polls)
    assert [(row.cluster, row.lags, row.changed) for row in second.rows] == [
        ("eu", (5, 5), frozenset()),
        ("us", (50, 40), frozenset({"total_lag"})),
    ]
    assert second.clusters["us"].offsets == {}  # no page shows them


def test_offsets_of_each_group_are_kept_for_its_page(
    serve: Serve, profiles: Profiles, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "PATIENCE", 60)
    us = serve(fill=shop("U", 50))
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, us=us.bootstrap)
    polls = watching("us", "eu", on_screen=True)
    next(polls)
    us.state.groups["both"].commits["orders", 0] = 60
    assert next(polls).clusters["us"].offsets["both"].commits.topics["orders"][0].offset == 60


def test_connections_of_each_cluster_are_kept(serve: Serve, profiles: Profiles, watching: Watching) -> None:
    eu = serve(fill=shop("E", 5))
    profiles(eu=eu.bootstrap, dead="127.0.0.1:1")
    polls = watching("eu", "dead")
    next(polls)
    opened = connections(eu)
    for _ in range(3):
        assert shown(next(polls)) == {"eu": (5, False)}
    assert connections(eu) == opened


def test_cluster_that_hangs_is_stale_and_delays_the_others_once(
    serve: Serve, profiles: Profiles, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    awaited, real = [], sources.Sources._wait

    def wait(self: sources.Sources, polls: set[Any]) -> None:
        awaited.append(len(polls))
        real(self, polls)

    monkeypatch.setattr(sources.Sources, "_wait", wait)
    eu, us = serve(fill=shop("E", 5)), serve(fill=shop("U", 50))
    profiles(eu=eu.bootstrap, us=us.bootstrap)
    polls = watching("eu", "us", cluster_timeout=0.5)
    next(polls)
    silent(us)
    for lag in range(6, 20):
        eu.state.groups["both"].commits["orders", 0] = 100 - lag
        late = next(polls)
        assert shown(late) == {"eu": (lag, False), "us": (50, True)}
        assert [failure.cluster for failure in late.failures] == ["us"]
    assert awaited == [2, 2, *[1] * 13]
    assert next(row for row in late.rows if row.cluster == "us").lag_age_ms
    recover(us)
    while (tick := next(polls)).failures:
        assert shown(tick)["us"] == (50, True)
    assert shown(tick) == {"eu": (19, False), "us": (50, False)}


def test_screen_does_not_wait_for_the_whole_time_limit(
    serve: Serve, profiles: Profiles, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "PATIENCE", 0.5)
    us = serve(fill=shop("U", 0))
    silent(us)
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, us=us.bootstrap)
    tick = next(watching("eu", "us", cluster_timeout=1000, on_screen=True))
    assert shown(tick) == {"eu": (5, False)}
    assert [failure.message.partition(" within ")[0] for failure in tick.failures] == ["no response"]


def test_cluster_that_was_not_queried_yet_is_not_blamed(
    serve: Serve, profiles: Profiles, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "PARALLEL", 1)
    monkeypatch.setattr(sources, "PATIENCE", 0.5)
    us = serve(fill=shop("U", 0))
    silent(us)
    profiles(us=us.bootstrap, eu=serve(fill=shop("E", 5)).bootstrap)
    tick = next(watching("us", "eu", cluster_timeout=1000, on_screen=True))
    assert {
        failure.cluster: failure.message.partition(":")[0].partition(" within ")[0] for failure in tick.failures
    } == {
        "us": "no response",
        "eu": "not queried yet",
    }


def test_cluster_of_two_profiles_is_watched_once(serve: Serve, profiles: Profiles, watching: Watching) -> None:
    eu = serve(fill=shop("E", 5))
    profiles(one=eu.bootstrap, two=eu.bootstrap, three=serve(fill=shop("T", 1)).bootstrap)
    polls = watching("one", "two", "three")
    for _ in range(2):
        tick = next(polls)
        assert shown(tick) == {"one": (5, False), "three": (1, False)}
        assert tick.notices == ("two and one are the same cluster, shown once, as one",)
        assert tick.ids == {"one": "E", "three": "T"}


def test_cluster_keeps_its_name_when_another_profile_of_it_answers_later(
    serve: Serve, profiles: Profiles, watching: Watching
) -> None:
    eu = serve(fill=shop("E", 5))
    profiles(first="127.0.0.1:1", second=eu.bootstrap)
    polls = watching("first", "second")
    assert shown(next(polls)) == {"second": (5, False)}
    profiles(first=eu.bootstrap, second=eu.bootstrap)
    while not (tick := next(polls)).notices:
        assert [failure.cluster for failure in tick.failures] == ["first"]
    assert (shown(tick), tick.notices) == (
        {"second": (5, False)},
        ("first and second are the same cluster, shown once, as second",),
    )


def test_cluster_that_rejects_the_password_is_not_asked_at_each_refresh(
    profiles: Profiles, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    async def rejected(self: object, name: str, *, debug: bool) -> None:
        tries.append(name)
        raise AuthenticationFailed("wrong password", reason=Reason.AUTHENTICATION_FAILED)

    monkeypatch.setattr("kgroups.cli.frame.fleet.FleetQueries.open", rejected)
    profiles(eu="127.0.0.1:1", us="127.0.0.1:1")
    polls = watching("eu", "us")
    for _ in range(3):
        assert [failure.message for failure in next(polls).failures] == ["wrong password"] * 2
    assert sorted(tries) == ["eu", "us"]
    monkeypatch.setattr(sources, "_REJECTED", 0.0)
    while tries.count("eu") < 2 or tries.count("us") < 2:
        next(polls)


def test_pipe_has_a_line_of_all_clusters_per_refresh(serve: Serve, profiles: Profiles, run_cli: Run) -> None:
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, us=serve(fill=shop("U", 50)).bootstrap)
    words = ("watch", "both", "--interval", "10ms", "--count", "2")
    code, out, err = run_cli(*words, "--all-profiles")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, err, [line["tick"] for line in lines]) == (0, "", [1, 2])
    assert lines[1]["clusters"] == {"eu": "E", "us": "U"}
    assert [(item["cluster"], item["group"], item["total_lag"]) for item in lines[1]["items"]] == [
        ("eu", "both", 5),
        ("us", "both", 50),
    ]
    one = json.loads(run_cli(*words, "--profile", "eu")[1].splitlines()[1])
    assert "clusters" not in one and "cluster" not in one["items"][0]


def test_clusters_that_fail_are_named_and_others_are_complete(
    serve: Serve, profiles: Profiles, run_cli: Run, tmp_path: Path
) -> None:
    bad = f'[profiles.bad]\nbootstrap = "h:1"\ncommand-config = "{tmp_path}/nosuch.properties"\n'
    profiles(bad, eu=serve(fill=shop("E", 5)).bootstrap, dead="127.0.0.1:1")
    code, out, _ = run_cli("watch", "--all-profiles", "--interval", "10ms", "--count", "2")
    for line in map(json.loads, out.splitlines()):
        assert [(item["cluster"], item["total_lag"], item["stale"]) for item in line["items"]] == [("eu", 5, False)]
        assert [failure["cluster"] for failure in line["failures"]] == ["bad", "dead"]
        assert line["clusters"] == {"bad": None, "dead": None, "eu": "E"}
    assert code == 1


def test_totals_of_each_cluster(serve: Serve, profiles: Profiles, run_cli: Run) -> None:
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, dead="127.0.0.1:1")
    words = ("watch", "--by", "cluster", "--count", "1")
    code, out, _ = run_cli(*words, "--all-profiles")
    line = json.loads(out)
    assert (code, line["schema"]) == (1, "kgroups/watch-by-cluster/v1")
    assert [(item["cluster"], item["groups"], item["total_lag"], item["stale"]) for item in line["items"]] == [
        ("dead", None, None, None),
        ("eu", 1, 5, 0),
    ]
    code, _, err = run_cli(*words, "--profile", "eu")
    assert (code, "--by cluster requires several profiles" in err) == (2, True)


def test_group_that_one_cluster_lacks_is_no_failure(serve: Serve, profiles: Profiles, run_cli: Run) -> None:
    def empty(fake: FakeCluster) -> None:
        fake.state.cluster_id = "U"

    profiles(eu=serve(fill=shop("E", 5)).bootstrap, us=serve(fill=empty).bootstrap)
    words = ("watch", "--all-profiles", "--count", "1")
    code, out, _ = run_cli(*words, "both")
    assert (code, [item["cluster"] for item in json.loads(out)["items"]]) == (0, ["eu"])
    code, out, _ = run_cli(*words, "nosuch")
    assert (code, [failure["name"] for failure in json.loads(out)["failures"]]) == (1, ["nosuch"])


def test_page_of_a_group_asks_its_cluster_only(serve: Serve, profiles: Profiles) -> None:
    eu, us = serve(fill=shop("E", 5)), serve(fill=shop("U", 50))
    profiles(eu=eu.bootstrap, us=us.bootstrap)
    connection, key = options("eu", "us"), GroupKey("us", "both")
    assert ("orders", 0) in read_time_lags(connection, LEVEL, key).ages
    lines = explained(connection, key)
    assert any(line.startswith("both: ") for line in lines)
    assert any(line.startswith("both: orders-0: ") for line in lines), "the verdict about its partition that lags"
    planned = PlannedReset(connection, key, "--to-earliest --all-topics --force")
    lines, can_write = planned.plan()
    assert can_write and "dry run on cluster U" in lines[-1]
    assert connection.of("us").as_words() == ("--profile", "us")
    assert connections(eu) == 0
