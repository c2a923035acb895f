"""``kgroups exporter`` over fake brokers, scraped as Prometheus scrapes and read by its own parsers."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as classic

from kgroups.admin.query.select_groups import Selection
from kgroups.cli.exporter import command as exporter
from kgroups.cli.exporter.command import Poller, _serve
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.offsets import Isolation
from tests.fakes.broker import FakeCluster, close
from tests.fakes.cluster_state import FakeMember

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


def looks_at(bootstrap: str, max_age: float = 0.0) -> Poller:
    settings = ClientSettings(parse_bootstrap(bootstrap))
    return Poller(
        ConnectionOptions(settings, False), Selection(everything=True), Isolation.READ_UNCOMMITTED, False, max_age
    )


@pytest.fixture
def served(serve: Callable) -> Any:
    return serve(world=shop)


def test_exporter_serves_prometheus_and_openmetrics_formats(served: Any) -> None:
    port = _serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True)
    answer = samples(openmetrics(scrape(port, "application/openmetrics-text; version=1.0.0")))
    assert answer == samples(classic(scrape(port))) | {
        key: value for key, value in answer.items() if key[0].startswith("kgroups_scrape")
    }
    assert answer["kgroups_up",] == 1
    assert answer["kafka_consumergroup_lag", "busy", "0", "orders"] == 10
    assert answer["kafka_consumergroup_current_offset", "busy", "0", "orders"] == 90
    assert answer["kafka_consumergroup_lag_sum", "busy"] == 10
    assert answer["kafka_consumergroup_members", "busy"] == 1
    assert answer["kafka_consumergroup_state", "busy", "Stable"] == 1
    assert answer["kafka_consumergroup_state", "busy", "Empty"] == 0
    assert answer["kafka_consumergroup_lag_sum", 'odd"\\\n'] == 99
    assert ("kafka_consumergroup_lag_seconds", "busy") not in answer


def test_exporter_serves_share_and_streams_groups(serve: Callable) -> None:
    def sharers(fake: FakeCluster) -> None:
        shop(fake)
        held = (FakeMember("m-1", {"orders": (0, 1)}),)
        kind = {"type": "Share", "protocol_type": "share", "state": "Stable"}
        live = fake.world.group("live", 0, members=held, **kind)
        live.commits.update({("orders", 0): 50, ("orders", 1): 60})
        live.lags["orders", 0] = 3
        fake.world.group("app", 1, type="Streams", protocol_type="streams", commits={("orders", 0): 70})

    port = _serve(looks_at(serve(world=sharers).bootstrap), "127.0.0.1", 0, partitions=True)
    answer = samples(classic(scrape(port)))
    assert answer["kafka_consumergroup_lag", "live", "0", "orders"] == 3
    assert answer["kafka_consumergroup_lag", "live", "1", "orders"] == 40
    assert answer["kafka_consumergroup_lag_sum", "live"] == 43
    assert ("kafka_consumergroup_current_offset", "live", "0", "orders") not in answer
    assert answer["kafka_consumergroup_lag", "app", "0", "orders"] == 30
    assert answer["kafka_consumergroup_members", "live"] == 1


def lag_samples(reported: Samples, group: str) -> dict[str, float]:
    prefix = "kafka_consumergroup_"
    return {key[0].removeprefix(prefix): value for key, value in reported.items() if key[1:] == (group,)}


def test_exporter_omits_total_lag_while_a_leader_is_down(served: Any) -> None:
    """The lag of busy is on orders-0: an alert on the total, or on unknown partitions, does not resolve."""
    port = _serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True)
    before = lag_samples(samples(classic(scrape(port))), "busy")
    assert (before["lag_sum"], before["known_lag_sum"], before["unknown_partitions"]) == (10, 10, 0)
    served.world.fail("ListOffsets", "orders-0", ErrorCode.not_leader_or_follower)
    down = samples(classic(scrape(port)))
    found = lag_samples(down, "busy")
    assert "lag_sum" not in found
    assert (found["known_lag_sum"], found["unknown_partitions"]) == (0, 1)
    assert down["kgroups_up",] == 1
    assert ("kafka_consumergroup_lag", "busy", "0", "orders") not in down


def test_exporter_omits_total_lag_without_a_commit(served: Any) -> None:
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    served.world.group("new", 0, state="Stable", members=held, commits={("orders", 0): 100})
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True))))
    found = lag_samples(answer, "new")
    assert "lag_sum" not in found and found["unknown_partitions"] == 1
    # Nobody waits for the commit of a group without members.
    assert lag_samples(answer, 'odd"\\\n')["unknown_partitions"] == 0


def test_exporter_marks_groups_of_failed_coordinator_as_unknown(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looks_at(served.bootstrap)
    port = _serve(looks, "127.0.0.1", 0, partitions=True)
    scrape(port)
    served.world.fail("OffsetFetch", "busy", ErrorCode.group_authorization_failed)
    found = lag_samples(samples(classic(scrape(port))), "busy")
    assert found == {"unknown_partitions": 2}
    with monkeypatch.context() as gone:
        gone.setattr(looks, "_connection", looks_at("127.0.0.1:1")._connection)
        answer = samples(classic(scrape(port)))
    assert answer["kgroups_up",] == 0
    assert lag_samples(answer, "busy") == {"unknown_partitions": 2}
    served.world.groups.pop("busy")
    answer = samples(classic(scrape(port)))
    assert answer["kgroups_up",] == 1 and lag_samples(answer, "busy") == {}


def test_exporter_without_partitions_serves_sums_only(served: Any) -> None:
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=False))))
    assert "kafka_consumergroup_lag_sum" in {key[0] for key in answer}
    assert "kafka_consumergroup_lag" not in {key[0] for key in answer}


def test_exporter_counts_rebalances_and_scrapes(served: Any) -> None:
    port = _serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True)
    assert samples(classic(scrape(port)))["kafka_consumergroup_rebalances_total", "busy"] == 0
    served.world.group("busy", 0, state="Stable", members=(FakeMember("m-2", {"orders": (0, 1)}),))
    answer = samples(classic(scrape(port)))
    assert answer["kafka_consumergroup_rebalances_total", "busy"] == 1
    assert answer["kgroups_scrapes_total",] == 2


def test_exporter_concurrent_scrapes_share_one_poll(served: Any) -> None:
    looks = looks_at(served.bootstrap, max_age=3600)
    assert looks.latest() is looks.latest()


def test_exporter_unreachable_cluster_is_down(served: Any) -> None:
    answer = samples(classic(scrape(_serve(looks_at("127.0.0.1:1"), "127.0.0.1", 0, partitions=True))))
    assert answer["kgroups_up",] == 0
    assert answer["kgroups_scrape_failures_total", "cluster"] == 1
    assert not [key for key in answer if key[0].startswith("kafka_")]


def test_exporter_dashboard_queries_only_served_metrics(run_cli: Run, served: Any) -> None:
    code, out, _ = run_cli("exporter", "--dashboard", "-b", served.bootstrap)
    answer = samples(classic(scrape(_serve(looks_at(served.bootstrap), "127.0.0.1", 0, partitions=True))))
    names = {key[0] for key in answer} | {"kafka_consumergroup_lag_seconds", "kgroups_scrape_failures_total"}
    asked = [target["expr"] for panel in json.loads(out)["panels"] for target in panel["targets"]]
    assert code == 0 and asked
    for expression in asked:
        assert any(name in expression for name in names), expression


def test_exporter_invalid_listen_address_exits_2(run_cli: Run) -> None:
    for text in ("x", "1:", ":1", "h:99999"):
        code, _, err = run_cli("exporter", "-b", "127.0.0.1:1", "--listen", text)
        assert code == 2 and "--listen" in err


def test_exporter_forgets_deleted_groups_while_others_fail(served: Any) -> None:
    looks = looks_at(served.bootstrap)
    served.world.fail("ListOffsets", "orders-0", ErrorCode.not_leader_or_follower)  # for good
    for at in range(30):
        name = f"passing-{at}"
        served.world.group(name, 0, commits={("orders", 0): 1})
        looks.latest()
        del served.world.groups[name]
    looks.latest()
    assert looks._rebalances.names == {"busy", 'odd"\\\n'}
    assert set(looks._partitions) == {"busy", 'odd"\\\n'}


def test_exporter_memory_is_bounded_while_a_broker_is_down(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter, "MAX_MISSING", 5)
    looks = looks_at(served.bootstrap)
    looks.latest()
    served.fake.brokers[1].fault("ListGroups", close)
    for at in range(20):
        name = f"passing-{at}"
        served.world.group(name, 0, commits={("orders", 0): 1})
        looks.latest()
        del served.world.groups[name]
    assert len(looks._rebalances.names) <= 1 + 5 + 1
    assert len(looks._partitions) <= 1 + 5 + 1
