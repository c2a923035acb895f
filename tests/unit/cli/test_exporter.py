"""``kgroups exporter`` over fake brokers, scraped as Prometheus scrapes and read by its own parsers."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as classic

from kgroups.admin.select_groups import Selection
from kgroups.cli.exporter import Looks, _serve
from kgroups.cli.options import Connection
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.offsets import Isolation
from tests.fakes.broker import FakeCluster
from tests.fakes.world import FakeMember

Run = Callable[..., tuple[int, str, str]]
Samples = dict[tuple[str, ...], float]


def shop(fake: FakeCluster) -> None:
    fake.world.topic("orders", [0, 1], end=100)
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    fake.world.group("busy", 0, state="Stable", members=held, commits={("orders", 0): 90, ("orders", 1): 100})
    fake.world.group('odd"\\\n', 1, commits={("orders", 0): 1})


def scrape(port: int, accept: str = "text/plain") -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=30) as answer:
        text: str = answer.read().decode()
    return text


def samples(families: Any) -> Samples:
    """By name and the values of the labels, by the labels' names."""
    every = (each for family in families for each in family.samples)
    return {(each.name, *(value for _, value in sorted(each.labels.items()))): each.value for each in every}


def looks_at(bootstrap: str, max_age: float = 0.0) -> Looks:
    settings = ClientSettings(parse_bootstrap(bootstrap))
    return Looks(Connection(settings, False), Selection(everything=True), Isolation.READ_UNCOMMITTED, False, max_age)


@pytest.fixture
def served(serve: Callable) -> Any:
    return serve(world=shop)


def test_both_formats(served: Any) -> None:
    port = _serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True)
    told = samples(openmetrics(scrape(port, "application/openmetrics-text; version=1.0.0")))
    assert told == samples(classic(scrape(port))) | {
        key: value for key, value in told.items() if key[0].startswith("kgroups_scrape")
    }
    assert told["kgroups_up",] == 1
    assert told["kafka_consumergroup_lag", "busy", "0", "orders"] == 10
    assert told["kafka_consumergroup_current_offset", "busy", "0", "orders"] == 90
    assert told["kafka_consumergroup_lag_sum", "busy"] == 10
    assert told["kafka_consumergroup_members", "busy"] == 1
    assert told["kafka_consumergroup_state", "busy", "Stable"] == 1
    assert told["kafka_consumergroup_state", "busy", "Empty"] == 0
    assert told["kafka_consumergroup_lag_sum", 'odd"\\\n'] == 99
    assert ("kafka_consumergroup_lag_seconds", "busy") not in told


def test_share_and_streams_groups(serve: Callable) -> None:
    def sharers(fake: FakeCluster) -> None:
        shop(fake)
        held = (FakeMember("m-1", {"orders": (0, 1)}),)
        kind = {"type": "Share", "protocol_type": "share", "state": "Stable"}
        live = fake.world.group("live", 0, members=held, **kind)
        live.commits.update({("orders", 0): 50, ("orders", 1): 60})
        live.lags["orders", 0] = 3
        fake.world.group("app", 1, type="Streams", protocol_type="streams", commits={("orders", 0): 70})

    port = _serve(looks_at(serve(world=sharers).bootstrap), "127.0.0.1", 0, partitions=True)
    told = samples(classic(scrape(port)))
    assert told["kafka_consumergroup_lag", "live", "0", "orders"] == 3
    assert told["kafka_consumergroup_lag", "live", "1", "orders"] == 40
    assert told["kafka_consumergroup_lag_sum", "live"] == 43
    assert ("kafka_consumergroup_current_offset", "live", "0", "orders") not in told
    assert told["kafka_consumergroup_lag", "app", "0", "orders"] == 30
    assert told["kafka_consumergroup_members", "live"] == 1


def test_sums_alone(served: Any) -> None:
    told = samples(classic(scrape(_serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=False))))
    assert "kafka_consumergroup_lag_sum" in {key[0] for key in told}
    assert "kafka_consumergroup_lag" not in {key[0] for key in told}


def test_rebalances_and_scrapes_are_counted(served: Any) -> None:
    port = _serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True)
    assert samples(classic(scrape(port)))["kafka_consumergroup_rebalances_total", "busy"] == 0
    served.world.group("busy", 0, state="Stable", members=(FakeMember("m-2", {"orders": (0, 1)}),))
    told = samples(classic(scrape(port)))
    assert told["kafka_consumergroup_rebalances_total", "busy"] == 1
    assert told["kgroups_scrapes_total",] == 2


def test_scrapes_that_come_together_share_a_look(served: Any) -> None:
    looks = looks_at(served.bootstrap, max_age=3600)
    assert looks.newest() is looks.newest()


def test_a_cluster_that_is_gone(served: Any) -> None:
    told = samples(classic(scrape(_serve(looks_at("127.0.0.1:1"), "127.0.0.1", 0, partitions=True))))
    assert told["kgroups_up",] == 0
    assert told["kgroups_scrape_failures_total", "cluster"] == 1
    assert not [key for key in told if key[0].startswith("kafka_")]


def test_the_dashboard_asks_for_what_is_served(run_cli: Run, served: Any) -> None:
    code, out, _ = run_cli("exporter", "--dashboard", "-b", served.bootstrap)
    told = samples(classic(scrape(_serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True))))
    names = {key[0] for key in told} | {"kafka_consumergroup_lag_seconds", "kgroups_scrape_failures_total"}
    asked = [target["expr"] for panel in json.loads(out)["panels"] for target in panel["targets"]]
    assert code == 0 and asked
    for expression in asked:
        assert any(name in expression for name in names), expression


def test_bad_addresses(run_cli: Run) -> None:
    for text in ("x", "1:", ":1", "h:99999"):
        code, _, err = run_cli("exporter", "-b", "127.0.0.1:1", "--listen", text)
        assert code == 2 and "--listen" in err
