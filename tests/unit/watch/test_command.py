"""``kgroups watch`` in a pipe over fake brokers, and its keys."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.routing.coverage import missing_coordinators
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure, Scope, unanswered
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, kafka_error
from kgroups.watch.ticks import Ticks, pace_of
from tests.fakes.broker import FakeCluster

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, commits={("orders", 0): 90, ("orders", 1): 100})
    fake.state.group("b", 1, commits={("orders", 0): 100, ("orders", 1): 1})


def test_watch_prints_one_line_per_refresh(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    words = ("watch", "-b", served.bootstrap, "--interval", "10ms", "--count", "3")
    code, out, err = run_cli(*words)
    ticks = [json.loads(line) for line in out.splitlines()]
    assert (code, err, [tick["tick"] for tick in ticks]) == (0, "", [1, 2, 3])
    assert [(item["group"], item["total_lag"], item["rate_out"]) for item in ticks[2]["items"]] == [
        ("a", 10, 0.0),
        ("b", 99, 0.0),
    ]
    code, out, _ = run_cli(*words, "a", "none")
    assert code == 1 and json.loads(out.splitlines()[0])["failures"][0]["name"] == "none"


def test_watch_lag_is_unknown_while_a_leader_is_down(run_cli: Run, serve: Callable) -> None:
    def broken(fake: FakeCluster) -> None:
        shop(fake)
        fake.state.fail("ListOffsets", "orders-1", ErrorCode.not_leader_or_follower)

    code, out, _ = run_cli("watch", "-b", serve(fill=broken).bootstrap, "--count", "1")
    items = {item["group"]: item for item in json.loads(out)["items"]}
    assert code == 1
    assert (items["a"]["total_lag"], items["a"]["known_lag"], items["a"]["unknown_partitions"]) == (None, 10, 1)
    assert (items["b"]["total_lag"], items["b"]["unknown_partitions"], items["b"]["catch_up_ms"]) == (None, 1, None)


def test_unreachable_cluster_at_first_refresh_is_an_error(run_cli: Run) -> None:
    code, out, err = run_cli("watch", "-b", "127.0.0.1:1")
    assert (code, out) == (1, "") and err.startswith("kgroups: error: no bootstrap server responded")


def test_groups_of_leaderless_coordinator_may_exist() -> None:
    """Groups of a leaderless offsets partition are not listed, but they may exist."""
    leaders = {0: 1, 1: kafka_error(Code.leader_not_available)}
    assert unanswered(missing_coordinators([TopicLeaders(OFFSETS_TOPIC, None, leaders)])) is None
    assert unanswered((Failure(Scope.TOPIC, "orders", "gone"),)) == frozenset()


@pytest.mark.parametrize("on_screen", [False, True])
def test_interval_is_extended_on_a_screen_if_refreshes_take_too_much_cpu(
    serve: Callable, monkeypatch: pytest.MonkeyPatch, on_screen: bool
) -> None:
    settings = ClientSettings(parse_bootstrap(serve(fill=shop).bootstrap))
    cpu = iter(range(100))
    monkeypatch.setattr("kgroups.watch.ticks.time.process_time", lambda: next(cpu) * 0.03)
    polls = Ticks(
        ConnectionOptions(settings, False),
        Selection(everything=True),
        Isolation.READ_UNCOMMITTED,
        0.01,
        2,
        on_screen=on_screen,
    )
    first, second = polls
    assert first.slowed is None and pace_of(first) == ""
    assert pace_of(second) == ("  every 0.1 s (CPU limit 30%)" if on_screen else "")
