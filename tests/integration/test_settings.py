"""Settings of groups on real brokers: what kgroups shows, sets, and restores is what kafka-configs.sh shows."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups import Cluster
from kgroups.sandbox import Sandbox
from tests.integration.asking import Answer, run_here
from tests.integration.group_settings import SECONDS, by_kafka, until_shown
from tests.integration.versions import MAIN, on

A, B = "settings-a", "settings-b"
TIMEOUT, LOCKS = "consumer.session.timeout.ms", "share.partition.max.record.locks"
FILE = f"""
[groups.{A}]
{TIMEOUT} = 50000

[groups.{B}]
{TIMEOUT} = 50000
{LOCKS} = 300
"""


@on("4.3.1")
def test_settings_are_set_compared_and_restored(cluster: Sandbox, tmp_path: Path) -> None:
    file, undo, more = tmp_path / "settings.toml", tmp_path / "undo.json", tmp_path / "more.json"
    file.write_text(FILE)

    def ask(*words: str) -> Answer:
        return run_here("settings", *words, "-o", "json", bootstrap=cluster.bootstrap)

    before = ("set", f"{TIMEOUT}=55000", B, "--execute", "--yes", "--undo-file", str(more))
    assert ask(*before).code == 0
    until_shown(cluster, (A, B), {(B, TIMEOUT): "55000"})
    drift = ask("diff", "-f", str(file))
    assert drift.code == 1
    assert [(row["group"], row["key"], row["value"], row["result"]) for row in drift.items] == [
        (A, TIMEOUT, "45000", "not set"),
        (B, TIMEOUT, "55000", "differs"),
        (B, LOCKS, "2000", "not set"),
    ]
    done = ask("set", "-f", str(file), "--execute", "--yes", "--undo-file", str(undo))
    assert done.code == 0 and {row["result"] for row in done.items} == {"applied"}, done.err
    until_shown(cluster, (A, B), {(A, TIMEOUT): "50000", (B, TIMEOUT): "50000", (B, LOCKS): "300"})
    assert ask("diff", "-f", str(file), "--exact").code == 0
    assert by_kafka(cluster, B) == {TIMEOUT: "50000", LOCKS: "300"}
    assert ask("set", "-f", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "u")).code == 0
    until_shown(cluster, (A, B), {(B, TIMEOUT): "55000"})
    assert by_kafka(cluster, A) == {}
    assert ask("unset", "*", B, "--execute", "--yes", "--undo-file", str(tmp_path / "v")).code == 0
    until_shown(cluster, (A, B), {})


@on("4.3.1")
def test_python_sets_and_restores_settings(cluster: Sandbox) -> None:
    group = "settings-python"
    with Cluster(cluster.bootstrap, timeout=60) as connected:
        plan = connected.plan_settings(group, values={TIMEOUT: 50000, LOCKS: 300}).raise_for_failures()
        assert [(each.name, each.before.text, each.new) for each in plan] == [
            (TIMEOUT, "45000", "50000"),
            (LOCKS, "2000", "300"),
        ]
        done = connected.alter_settings(plan.items).raise_for_failures()
        until_shown(cluster, (group,), {(group, TIMEOUT): "50000", (group, LOCKS): "300"})
        rows = connected.describe_settings(group, overridden=True).raise_for_failures()
        assert {row.key: row.value for row in rows} == by_kafka(cluster, group)
        connected.undo(done).raise_for_failures()
        until_shown(cluster, (group,), {})
        rejected = connected.plan_settings(group, values={TIMEOUT: 1})
        assert (rejected.items, [each.error for each in rejected.failures]) == ((), ["INVALID_CONFIG"])


@on("4.3.1")
def test_settings_of_several_clusters_are_set_and_restored(
    cluster: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGROUPS_CONFIG", str(tmp_path / "config.toml"))
    group, now = "settings-fleet", ("--execute", "--yes", "-o", "json")
    with Sandbox.up(MAIN, name=f"pytest-{os.getpid()}-settings") as other:
        servers = {"here": cluster.bootstrap, "there": other.bootstrap}
        config = "".join(f'[profiles.{name}]\nbootstrap = "{each}"\n' for name, each in servers.items())
        Path("config.toml").write_text(config)
        done = run_here("settings", "set", f"{TIMEOUT}=50000", group, "--all-profiles", "--fleet", *now)
        results = [(row["cluster"], row["new_value"], row["result"]) for row in done.items]
        assert (done.code, results) == (0, [(name, "50000", "applied") for name in servers]), done.err
        for each in (cluster, other):
            until_shown(each, (group,), {(group, TIMEOUT): "50000"})
        shown = run_here("settings", "show", group, "--overridden", "--all-profiles", "-o", "json")
        assert [(row["cluster"], row["value"]) for row in shown.items] == [(name, "50000") for name in servers]
        assert by_kafka(other, group) == {TIMEOUT: "50000"}
        for name, file in done.envelope["undo_files"].items():
            assert run_here("settings", "set", "--from-file", file, "--profile", name, *now).code == 0
        for each in (cluster, other):
            until_shown(each, (group,), {})


@on("4.3.1")
def test_brokers_reject_invalid_values_in_the_plan(cluster: Sandbox) -> None:
    answer = run_here("settings", "set", f"{TIMEOUT}=1", A, "-o", "json", bootstrap=cluster.bootstrap)
    assert (answer.code, answer.items) == (1, [])
    (failure,) = answer.failures
    assert failure["error"] == "INVALID_CONFIG" and "group.consumer.min.session.timeout.ms" in failure["message"]


@on("4.3.1")
def test_explain_shows_the_timeouts_that_are_set_for_a_group(cluster: Sandbox, tmp_path: Path) -> None:
    group = "settings-explained"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(group, 1, 1)])[group].result(SECONDS)
    settings = ("settings", "set", f"{TIMEOUT}=50000", group, "--execute", "--yes")
    assert run_here(*settings, "--undo-file", str(tmp_path / "undo.json"), bootstrap=cluster.bootstrap).code == 0
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group, "group.protocol": "consumer"})
    consumer.subscribe([group])
    end = time.monotonic() + SECONDS
    while not consumer.assignment():
        assert time.monotonic() < end
        consumer.poll(0.1)
    while True:
        answer = run_here("explain", group, bootstrap=cluster.bootstrap)
        if f"no heartbeat for 50s is removed ({TIMEOUT}); members send one at intervals of 5s" in answer.out:
            break
        assert answer.code == 0 and time.monotonic() < end, answer
    consumer.close()
    words = ("settings", "unset", "*", group, "--execute", "--yes", "--undo-file", str(tmp_path / "back.json"))
    assert run_here(*words, bootstrap=cluster.bootstrap).code == 0
    until_shown(cluster, (group,), {})
    admin.delete_consumer_groups([group])[group].result(SECONDS)
    admin.delete_topics([group])[group].result(SECONDS)


@on("2.8.2")
def test_brokers_that_are_too_old_are_named(cluster: Sandbox) -> None:
    for words in (("show", A), ("set", f"{TIMEOUT}=50000", A, "--execute", "--yes")):
        answer = run_here("settings", *words, "-o", "json", bootstrap=cluster.bootstrap)
        assert (answer.code, answer.items) == (1, [])
        assert "brokers before Kafka 4.0 have no settings of groups" in answer.failures[0]["message"]
