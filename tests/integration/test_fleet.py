"""Several real clusters in one command: of different versions, with TLS and SCRAM, and some that cannot be queried."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families as parse

import kgroups
from kgroups.history.load.owner import Owner
from kgroups.history.load.store import Store
from kgroups.sandbox import Sandbox
from kgroups.sandbox.commits import Commits, make_commits
from kgroups.sandbox.security import Acl
from kgroups.sandbox.security import up as secure_up
from tests.fakes.watchdog import alarm
from tests.integration.asking import Answer, run_here, run_kgroups
from tests.integration.monitoring.prometheus import run_exporter
from tests.integration.versions import MAIN

OLD, PAUSED = "2.8.2", "3.9.1"
WAY = "sasl-ssl-scram-sha-512"


class Fleet(NamedTuple):
    """The file of the profiles of all clusters, their secrets, and the cluster of an old version."""

    config: Path
    secrets: frozenset[str]
    old: Sandbox

    def run(self, *words: str) -> Answer:
        """Run a command with these profiles."""
        return run_kgroups(*words, env={"KGROUPS_CONFIG": str(self.config)})


@pytest.fixture(scope="module")
def fleet(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    for version in (MAIN, OLD, PAUSED):
        require_kafka(version)
    folder = tmp_path_factory.mktemp("fleet")
    with ExitStack() as stack:
        name = f"pytest-{os.getpid()}-fleet"
        secure = stack.enter_context(secure_up(MAIN, name=f"{name}-secure", users=("ann",), kerberos=False))
        old = stack.enter_context(Sandbox.up(OLD, name=f"{name}-old"))
        paused = stack.enter_context(Sandbox.up(PAUSED, name=f"{name}-paused"))
        for cluster, topics in ((secure.sandbox, ("both", "secure")), (old, ("both", "old")), (paused, ("paused",))):
            for topic in topics:
                make_commits(cluster, Commits(1, 1, 1, topic))
        listener, settings = secure.ways[WAY].listener, secure.ways[WAY].settings
        wrong = {**settings, "sasl.jaas.config": settings["sasl.jaas.config"].replace('password="', 'password="not-')}
        paused.pause(1)
        stack.callback(paused.resume, 1)
        files = {
            "secure": secure.write("fleet", listener, settings),
            "wrong": secure.write("fleet-wrong", listener, wrong),
            "few-acls": secure.user_file("ann"),
        }
        secure.allow(Acl("ann", "describe", "group", "both-00000"), Acl("ann", "describe", "topic", "both"))
        text = f'[profiles.old]\nbootstrap = "{old.bootstrap}"\n[profiles.paused]\nbootstrap = "{paused.bootstrap}"\n'
        text += "".join(f'[profiles.{each}]\ncommand-config = "{file}"\n' for each, file in files.items())
        config = folder / "config.toml"
        config.write_text(text + '[profiles.dead]\nbootstrap = "127.0.0.1:1"\n[sets]\ngood = ["old", "secure"]\n')
        yield Fleet(config, frozenset(secure.secrets), old)


def rows(answer: Answer) -> list[tuple[Any, ...]]:
    return [(each["cluster"], each["group"]) for each in answer.items]


def test_clusters_that_answer_are_complete_and_others_are_named(fleet: Fleet) -> None:
    words = ("--profile", "*", "--profile", "!few-acls", "--cluster-timeout", "8s", "-o", "json")
    answer = fleet.run("list", *words)
    assert (answer.code, rows(answer)) == (
        1,
        [("old", "both-00000"), ("old", "old-00000"), ("secure", "both-00000"), ("secure", "secure-00000")],
    )
    failures = {each["cluster"]: each["reason"] for each in answer.failures}
    assert failures == {"paused": "timeout", "wrong": "authentication_failed", "dead": "connection_refused"}
    assert set(json.loads(answer.out)["clusters"]) == {"old", "secure", "paused", "wrong", "dead"}


def test_group_is_found_in_each_cluster_that_has_it(fleet: Fleet) -> None:
    assert rows(fleet.run("describe", "both-00000", "--profile", "good", "-o", "json")) == [
        ("old", "both-00000"),
        ("secure", "both-00000"),
    ]
    only = fleet.run("describe", "secure-00000", "--profile", "good", "-o", "json")
    assert (only.code, rows(only)) == (0, [("secure", "secure-00000")])
    none = fleet.run("describe", "nosuch", "--profile", "good", "-o", "json")
    assert (none.code, [each["name"] for each in none.failures]) == (1, ["nosuch"])


def test_lag_of_each_cluster_is_summed_up(fleet: Fleet) -> None:
    answer = fleet.run("lag", "--profile", "good", "--by", "cluster", "-o", "json")
    assert [(each["cluster"], each["groups"], each["total_lag"]) for each in answer.items] == [
        ("old", 2, 0),
        ("secure", 2, 0),
    ]


def test_groups_of_each_cluster_are_counted(fleet: Fleet) -> None:
    words = ("list", "--by", "cluster", "--cluster-timeout", "8s", "-o", "json")
    answer = fleet.run(*words, "--profile", "good")
    counts = [(each["cluster"], each["groups"], each["empty"], each["unknown_type"]) for each in answer.items]
    assert (answer.code, counts) == (0, [("old", 2, 2, 2), ("secure", 2, 2, 0)])
    partial = fleet.run(*words, "--profile", "few-acls", "--profile", "old")
    assert [(each["cluster"], each["groups"], each["listed"]) for each in partial.items] == [
        ("few-acls", None, 1),
        ("old", 2, 2),
    ]


def test_groups_hidden_by_acls_are_named_with_their_cluster(fleet: Fleet) -> None:
    answer = fleet.run("list", "--profile", "old", "--profile", "few-acls", "-o", "json")
    assert rows(answer) == [("few-acls", "both-00000"), ("old", "both-00000"), ("old", "old-00000")]
    assert "few-acls: the list may be partial: without DESCRIBE on CLUSTER" in answer.err
    refused = fleet.run("describe", "secure-00000", "--profile", "old", "--profile", "few-acls", "-o", "json")
    failures = {(each["cluster"], each["name"]) for each in refused.failures}
    assert (refused.code, failures) == (1, {("few-acls", "secure-00000")})


def test_check_is_the_worst_result_of_all_clusters(fleet: Fleet) -> None:
    good = fleet.run("check", "both-00000", "--max-lag", "0", "--profile", "good", "-o", "json")
    assert (good.code, {each["cluster"] for each in good.items}) == (0, {"old", "secure"})
    words = ("--profile", "*", "--profile", "!few-acls", "--cluster-timeout", "8s", "-o", "json")
    answer = fleet.run("check", "both-00000", "--max-lag", "0", *words)
    results = {(each["cluster"], each["check"]): each["status"] for each in answer.items}
    assert (answer.code, results) == (
        3,
        {
            **{(name, check): "OK" for name in ("old", "secure") for check in ("exists", "lag")},
            **{(name, "answered"): "UNKNOWN" for name in ("dead", "paused", "wrong")},
        },
    )
    trend = ("--trend", "--samples", "2", "--window", "1s")
    moving = fleet.run("check", "both-00000", *trend, "--profile", "good", "-o", "json")
    assert {each["cluster"] for each in moving.items if each["check"] == "trend"} == {"old", "secure"}


def test_exporter_serves_the_clusters_that_answer(fleet: Fleet) -> None:
    words = ("--profile", "*", "--profile", "!few-acls", "--cluster-timeout", "8s")
    with run_exporter(None, *words, env={"KGROUPS_CONFIG": str(fleet.config)}) as address:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as answer:
            samples = [each for family in parse(answer.read().decode()) for each in family.samples]
        up = {each.labels["cluster"]: each.value for each in samples if each.name == "kgroups_up"}
        assert up == {"dead": 0, "old": 1, "paused": 0, "secure": 1, "wrong": 0}
        lags = {
            (each.labels["cluster"], each.labels["consumergroup"]): each.value
            for each in samples
            if each.name == "kafka_consumergroup_total_lag"
        }
        assert lags == {
            (cluster, group): 0
            for cluster, topic in (("old", "old"), ("secure", "secure"))
            for group in ("both-00000", f"{topic}-00000")
        }
        with urllib.request.urlopen(f"http://{address}/probe?profile=old", timeout=30) as answer:
            assert b'kafka_consumergroup_total_lag{consumergroup="old-00000"} 0.0' in answer.read()


def test_history_of_the_clusters_that_answer_is_in_one_store(fleet: Fleet, tmp_path: Path) -> None:
    store, events = ("--store", str(tmp_path / "history")), tmp_path / "events.jsonl"
    words = ("history", "collect", *store, "--cluster-timeout", "8s")
    everything = ("--profile", "*", "--profile", "!few-acls", "--openlineage", str(events))

    def commits() -> list[dict[str, Any]]:
        query = "SELECT cluster_id, `group`, count(*) AS commits FROM commits GROUP BY ALL ORDER BY ALL"
        return fleet.run("history", "sql", query, *store, "--all-clusters", "-o", "json").items

    first = fleet.run(*words, *everything)
    assert (first.code, "kgroups: 2 of 5 clusters collected" in first.err) == (1, True)
    failed = {name: f"cluster {name}: " in first.err for name in ("dead", "paused", "wrong")}
    assert failed == dict.fromkeys(failed, True) and first.err.endswith("; incomplete: dead, paused, wrong\n")
    found = commits()
    ids = fleet.run("list", "--profile", "good", "-o", "json").envelope["clusters"]
    assert {(each["cluster_id"], each["group"], each["commits"]) for each in found} == {
        (ids[name], f"{topic}-00000", 1) for name in ("old", "secure") for topic in ("both", name)
    }
    jobs = [json.loads(line) for line in events.read_text().splitlines()]
    collections = [
        each["job"]["namespace"]
        for each in jobs
        if each["eventType"] == "COMPLETE"
        if "parent" not in each["run"]["facets"]
    ]
    assert len(set(collections)) == 2

    commit_again(fleet.old.bootstrap)
    again = fleet.run(*words, "--profile", "good")
    assert again.code == 0
    assert "cluster old: 1 record in 1 batch" in again.err and "cluster secure: 0 records in 0 batches" in again.err
    more = {(ids["old"], "old-00000"): 2}
    found = [each | {"commits": more.get((each["cluster_id"], each["group"]), 1)} for each in found]
    assert commits() == found
    with Owner(Store(store[1], ids["old"])):
        locked = fleet.run(*words, "--profile", "good")
    assert (locked.code, locked.err.count("another collector has it")) == (1, 1)
    assert "kgroups: cluster old: " in locked.err and locked.err.endswith("; incomplete: old\n")
    text = "".join(each.read_text(errors="replace") for each in tmp_path.rglob("*") if each.is_file())
    assert commits() == found and not [secret for secret in fleet.secrets if secret in text]


def commit_again(bootstrap: str) -> None:
    """Write one more commit record, with the offset that the group has."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "old-00000"})
    consumer.commit(offsets=consumer.committed([TopicPartition("old", 0)], 60), asynchronous=False)
    consumer.close()


def test_history_is_collected_continuously_next_to_silent_clusters(fleet: Fleet, tmp_path: Path) -> None:
    store = str(tmp_path / "history")
    command = [sys.executable, "-m", "kgroups", "history", "collect", "--store", store, "--interval", "1s"]
    command += ["--profile", "*", "--profile", "!few-acls", "--timeout", "10m", "--broker-timeout", "10m"]
    environment = {**os.environ, "KGROUPS_CONFIG": str(fleet.config)}
    waiting = [
        "cluster dead: ",
        "cluster wrong: ",
        "cluster old: batch 1",
        "cluster secure: batch 1",
        "cluster old: batch 2",
    ]
    lines = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process, alarm(120):
        for line in process.stderr or ():
            lines.append(line)
            waiting = [each for each in waiting if each not in line]
            if waiting == ["cluster old: batch 2"]:
                commit_again(fleet.old.bootstrap)
            if not waiting:
                break
        process.terminate()
        lines += process.stderr or ()
    assert not waiting and process.returncode == 1, lines
    assert lines[-1].startswith("kgroups: 2 of 5 clusters collected, ")
    assert lines[-1].endswith("; incomplete: dead, paused, wrong\n")
    assert [line for line in lines if "paused" in line] == lines[-1:]
    assert [Store(store, each).names("_owner-") for each in Store(store).clusters()] == [[], []]


def test_watch_shows_the_clusters_that_answer(fleet: Fleet) -> None:
    words = ("--profile", "*", "--profile", "!few-acls", "--profile", "!paused", "--interval", "100ms")
    answer = fleet.run("watch", *words, "--count", "3")
    assert answer.code == 1
    for line in map(json.loads, answer.out.splitlines()):
        assert [(each["cluster"], each["group"], each["total_lag"], each["stale"]) for each in line["items"]] == [
            (cluster, group, 0, False)
            for cluster, topic in (("old", "old"), ("secure", "secure"))
            for group in ("both-00000", f"{topic}-00000")
        ]
        reasons = {each["cluster"]: each["reason"] for each in line["failures"]}
        assert reasons == {"wrong": "authentication_failed", "dead": "connection_refused"}


def test_watch_shows_a_cluster_again_that_comes_back(fleet: Fleet) -> None:
    words = (sys.executable, "-m", "kgroups", "watch", "both-00000", "--profile", "good", "--interval", "200ms")
    environment = {**os.environ, "KGROUPS_CONFIG": str(fleet.config)}
    with subprocess.Popen((*words, "--cluster-timeout", "3s"), env=environment, stdout=subprocess.PIPE) as watch:
        assert watch.stdout is not None
        lines = map(json.loads, watch.stdout)

        def wait_for(**stale: bool) -> None:
            """Read lines until these clusters are stale or not."""
            while {each["cluster"]: each["stale"] for each in next(lines)["items"]} != stale:
                pass

        try:
            wait_for(old=False, secure=False)
            fleet.old.pause(1)
            wait_for(old=True, secure=False)
            fleet.old.resume(1)
            wait_for(old=False, secure=False)
        finally:
            fleet.old.resume(1)
            watch.kill()


def test_explain_shows_a_group_of_each_cluster(fleet: Fleet) -> None:
    answer = fleet.run("explain", "both-00000", "--profile", "good", "-o", "json")
    assert (answer.code, rows(answer)) == (0, [("old", "both-00000"), ("secure", "both-00000")])


def test_verdicts_are_of_partitions_of_each_cluster(fleet: Fleet) -> None:
    words = ("explain", "both-00000", "--partition", "both:0", "--profile", "good", "--profile", "dead")
    answer = fleet.run(*words, "-o", "json")
    verdicts = [(each["cluster"], each["group"], each["verdict"]) for each in answer.items]
    assert verdicts == [("old", "both-00000", "caught-up"), ("secure", "both-00000", "caught-up")]
    assert (answer.code, [each["cluster"] for each in answer.failures]) == (1, ["dead"])


def test_python_fleet_reads_each_cluster(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGROUPS_CONFIG", str(fleet.config))
    outcome = kgroups.Fleet("good", "dead").lag("both-00000")
    assert {cluster: row.total_lag for cluster, row in outcome} == {"old": 0, "secure": 0}
    assert [failure.cluster for failure in outcome.failures] == ["dead"]


def committed() -> dict[str, int]:
    """Return the committed offset of the group ``new``, by cluster."""
    answer = run_here("describe", "new", "--profile", "good", "-o", "json")
    return {each["cluster"]: each["current_offset"] for each in answer.items}


def test_groups_of_several_clusters_are_changed_and_restored(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGROUPS_CONFIG", str(fleet.config))
    now = ("--fleet", "--execute", "--yes", "-o", "json")
    reset = ("reset-offsets", "new", "--create-group", "--topic", "both", "--to-latest", "--profile", "good")
    plan = run_here(*reset, "--fleet", "-o", "json")
    planned = [(each["cluster"], each["old_offset"], each["new_offset"], each["result"]) for each in plan.items]
    assert (plan.code, planned) == (0, [("old", None, 0, None), ("secure", None, 0, None)])

    blocked = run_here(*reset, "--profile", "dead", *now)
    assert (blocked.code, [each["cluster"] for each in blocked.failures], committed()) == (1, ["dead"], {})
    assert "nothing was changed on 3 clusters (old, secure, dead)" in blocked.err and not list(tmp_path.iterdir())

    done = run_here(*reset, *now)
    assert (done.code, [each["result"] for each in done.items]) == (0, ["applied"] * 2), done.err
    assert committed() == {"old": 0, "secure": 0} and done.envelope["undo_files"].keys() == {"old", "secure"}
    deleted = run_here("delete", "new", "--profile", "good", *now)
    assert (deleted.code, [each["result"] for each in deleted.items]) == (0, ["applied"] * 2), deleted.err
    assert committed() == {}
    restored = {}
    for name, file in deleted.envelope["undo_files"].items():
        assert file.startswith(f"kgroups-undo-{name}-new-")
        answer = run_here("reset-offsets", "--from-file", file, "--profile", name, "--execute", "--yes")
        restored[name] = 0
        assert (answer.code, committed()) == (0, restored), answer.err
    assert run_here("delete", "new", "--profile", "good", *now).code == 0
