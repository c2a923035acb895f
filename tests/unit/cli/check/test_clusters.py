"""``kgroups check`` of several clusters, over fake brokers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.fakes.broker import FakeCluster, close

Run = Callable[..., tuple[int, str, str]]
Serve = Callable[..., Any]

DEAD = "127.0.0.1:1"


def shop(cluster_id: str, lag: int) -> Callable[[FakeCluster], None]:
    def fill(fake: FakeCluster) -> None:
        fake.state.cluster_id = cluster_id
        fake.state.topic("orders", [0], end=100)
        fake.state.group("orders", 0, commits={("orders", 0): 100 - lag})

    return fill


@pytest.fixture
def two(serve: Serve, profiles: Callable[..., None]) -> None:
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, us=serve(fill=shop("U", 50)).bootstrap)


@pytest.fixture
def rules(tmp_path: Path) -> Callable[[str], str]:
    """Write a rules file, and return its path."""

    def write(text: str) -> str:
        file = tmp_path / "rules.toml"
        file.write_text(text)
        return str(file)

    return write


def test_worst_result_of_all_clusters_is_the_result(two: None, run_cli: Run) -> None:
    code, out, err = run_cli("check", "orders", "--max-lag", "10", "--all-profiles")
    assert (code, err) == (2, "")
    assert out.splitlines() == [
        "KGROUPS CRITICAL - 1 of 4 checks of 2 groups in 2 clusters: us: orders: lag 50 is above 10 | "
        "'eu orders lag'=5;;10 'us orders lag'=50;;10",
        "CRITICAL  us: orders: lag 50 is above 10",
        "OK        eu: orders: the group exists",
        "OK        eu: orders: lag 5",
        "OK        us: orders: the group exists",
    ]
    assert run_cli("check", "orders", "--max-lag", "50", "--all-profiles")[0] == 0


def test_json_has_the_cluster_of_each_item(two: None, run_cli: Run) -> None:
    found = json.loads(run_cli("check", "orders", "--max-lag", "10", "--all-profiles", "-o", "json")[1])
    assert (found["cluster_id"], found["clusters"], found["status"]) == (None, {"eu": "E", "us": "U"}, "CRITICAL")
    assert [(each["cluster"], each["check"], each["status"]) for each in found["items"]] == [
        ("eu", "exists", "OK"),
        ("eu", "lag", "OK"),
        ("us", "exists", "OK"),
        ("us", "lag", "CRITICAL"),
    ]


def test_junit_has_a_suite_for_each_cluster(two: None, run_cli: Run) -> None:
    root = ElementTree.fromstring(run_cli("check", "orders", "--max-lag", "10", "--all-profiles", "-o", "junit")[1])
    assert [(each.get("name"), each.get("tests"), each.get("failures")) for each in root] == [
        ("eu", "2", "0"),
        ("us", "2", "1"),
    ]
    assert {case.get("classname") for case in root.iter("testcase")} == {"kgroups.eu.orders", "kgroups.us.orders"}


def test_metrics_have_the_label_cluster(two: None, run_cli: Run) -> None:
    text = run_cli("check", "orders", "--max-lag", "10", "--all-profiles", "-o", "openmetrics")[1]
    families = {family.name: family for family in text_string_to_metric_families(text)}
    values = {each.labels["cluster"]: each.value for each in families["kgroups_check_value"].samples}
    assert values == {"eu": 5, "us": 50}


def test_github_summary_names_the_cluster(
    two: None, run_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    out = run_cli("check", "orders", "--max-lag", "10", "--all-profiles", "--github")[1]
    assert "::error title=CRITICAL us orders::us: orders: lag 50 is above 10\n" in out
    assert "| status | cluster | group | check | result |" in summary.read_text()
    assert "| CRITICAL | us | orders | lag | " in summary.read_text()


def test_cluster_that_fails_is_unknown_and_others_are_checked(
    serve: Serve, profiles: Callable[..., None], run_cli: Run
) -> None:
    profiles(dead=DEAD, eu=serve(fill=shop("E", 5)).bootstrap)
    code, out, _ = run_cli("check", "orders", "--max-lag", "10", "--all-profiles")
    assert code == 3
    assert "UNKNOWN   dead: no bootstrap server responded" in out
    assert "OK        eu: orders: lag 5" in out
    code, out, _ = run_cli("check", "orders", "--max-lag", "1", "--all-profiles", "-o", "json")
    assert (code, json.loads(out)["clusters"]) == (2, {"dead": None, "eu": "E"})


def test_named_group_must_exist_in_each_cluster(serve: Serve, profiles: Callable[..., None], run_cli: Run) -> None:
    profiles(eu=serve(fill=shop("E", 5)).bootstrap, empty=serve(fill=lambda fake: None).bootstrap)
    code, out, _ = run_cli("check", "orders", "--all-profiles")
    assert (code, "CRITICAL  empty: orders: the group does not exist" in out) == (2, True)
    code, out, _ = run_cli("check", "--all-groups", "--all-profiles")
    assert (code, "UNKNOWN   empty: no group matches" in out) == (3, True)


def test_cluster_of_two_profiles_is_checked_once(serve: Serve, profiles: Callable[..., None], run_cli: Run) -> None:
    one = serve(fill=shop("E", 5)).bootstrap
    profiles(eu=one, again=one)
    code, out, err = run_cli("check", "orders", "--max-lag", "10", "--all-profiles", "-o", "json")
    assert (code, {each["cluster"] for each in json.loads(out)["items"]}) == (0, {"eu"})
    assert err == "kgroups: note: again and eu are the same cluster, shown once, as eu\n"


def test_rules_name_clusters(two: None, run_cli: Run, rules: Callable[[str], str]) -> None:
    file = rules(
        '[[rule]]\ngroups = "orders"\nclusters = ["u?"]\nmax-lag = 100\n[[rule]]\ngroups = "orders"\nmax-lag = 10\n'
    )
    assert run_cli("check", "--rules", file, "--all-profiles")[0] == 0
    assert run_cli("check", "--rules", file, "--profile", "us")[0] == 0
    file = rules('[[rule]]\ngroups = "orders"\nclusters = "eu"\nmax-lag = 10\n')
    code, out, _ = run_cli("check", "--rules", file, "--all-profiles")
    assert (code, "UNKNOWN   us: no rule names this cluster" in out) == (3, True)
    assert "in 2 clusters" in out
    assert run_cli("check", "--rules", file, "--profile", "eu")[0] == 0
    code, out, _ = run_cli("check", "--rules", file, "--profile", "us")
    assert (code, "no rule is for us" in out) == (3, True)


def test_rules_name_clusters_that_do_not_exist(two: None, run_cli: Run, rules: Callable[[str], str]) -> None:
    file = rules('[[rule]]\ngroups = "orders"\nclusters = ["ue"]\nmax-lag = 10\n')
    code, out, _ = run_cli("check", "--rules", file, "--all-profiles")
    assert (code, "rules.toml: clusters: no profile 'ue' in " in out) == (3, True)
    code, out, _ = run_cli("check", "--rules", file, "-b", DEAD)
    assert (code, "rules.toml has rules for clusters, which are profiles: give --profile" in out) == (3, True)
    empty = rules('[[rule]]\ngroups = "orders"\nclusters = []\nmax-lag = 10\n')
    code, out, _ = run_cli("check", "--rules", empty, "--all-profiles")
    assert (code, "line 3: clusters is empty" in out) == (3, True)
    wrong = rules('[[rule]]\ngroups = "orders"\nclusters = 3\nmax-lag = 10\n')
    assert "line 3: clusters must be a list of names or globs" in run_cli("check", "--rules", wrong, "-b", DEAD)[1]


def test_trend_of_a_cluster_that_fails_in_between_is_unknown(
    serve: Serve, profiles: Callable[..., None], run_cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The samples that are left could be OK."""
    eu, us = serve(fill=shop("E", 5)), serve(fill=shop("U", 0))
    profiles(eu=eu.bootstrap, us=us.bootstrap)
    pauses = []

    def sleep(seconds: float) -> None:
        """Let one cluster fail in the second of three samples."""
        if seconds:
            pauses.append(seconds)
            for broker in us.fake.brokers.values():
                broker.recover() if len(pauses) > 1 else broker.fault("*", close)

    monkeypatch.setattr("kgroups.cli.check.checker.time", SimpleNamespace(sleep=sleep, time=time.time))
    words = ("check", "orders", "--trend", "--samples", "3", "--window", "2s", "--all-profiles", "--timeout", "5s")
    code, out, _ = run_cli(*words)
    assert pauses == [1, 1]
    assert "UNKNOWN   us: " in out
    assert "eu: orders: trend: " in out
    assert code in (2, 3)
