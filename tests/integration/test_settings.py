"""Settings of groups on real brokers: what kgroups shows, sets, and restores is what kafka-configs.sh shows."""

from __future__ import annotations

import re
import time
from pathlib import Path

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.sandbox import Sandbox
from tests.integration.asking import Answer, run_here
from tests.integration.versions import on

A, B = "settings-a", "settings-b"
TIMEOUT, LOCKS = "consumer.session.timeout.ms", "share.partition.max.record.locks"
FILE = f"""
[groups.{A}]
{TIMEOUT} = 50000

[groups.{B}]
{TIMEOUT} = 50000
{LOCKS} = 300
"""
_SECONDS = 120.0
_KAFKAS = re.compile(r"  (\S+)=(\S*) sensitive")


def by_kafka(cluster: Sandbox, group: str) -> dict[str, str]:
    """Return the values that are set for a group, as Kafka's own tool shows them."""
    where = ("--bootstrap-server", cluster.bootstrap, "--entity-type", "groups", "--entity-name", group)
    done = cluster.java("kafka.admin.ConfigCommand", *where, "--describe")
    assert done.returncode == 0, done.stderr
    return dict(_KAFKAS.findall(done.stdout))


def shown(cluster: Sandbox, *groups: str) -> dict[tuple[str, str], str]:
    answer = run_here("settings", "show", *groups, "--overridden", "-o", "json", bootstrap=cluster.bootstrap)
    assert answer.code == 0, answer.err
    return {(row["group"], row["key"]): row["value"] for row in answer.items}


def until_shown(cluster: Sandbox, wanted: dict[tuple[str, str], str]) -> None:
    """Wait until the brokers have applied a change, which is shortly after they respond."""
    end = time.monotonic() + _SECONDS
    while (found := shown(cluster, A, B)) != wanted:
        assert time.monotonic() < end, found


@on("4.3.1")
def test_settings_are_set_compared_and_restored(cluster: Sandbox, tmp_path: Path) -> None:
    file, undo, more = tmp_path / "settings.toml", tmp_path / "undo.json", tmp_path / "more.json"
    file.write_text(FILE)

    def ask(*words: str) -> Answer:
        return run_here("settings", *words, "-o", "json", bootstrap=cluster.bootstrap)

    before = ("set", f"{TIMEOUT}=55000", B, "--execute", "--yes", "--undo-file", str(more))
    assert ask(*before).code == 0
    until_shown(cluster, {(B, TIMEOUT): "55000"})
    drift = ask("diff", "-f", str(file))
    assert drift.code == 1
    assert [(row["group"], row["key"], row["value"], row["result"]) for row in drift.items] == [
        (A, TIMEOUT, "45000", "not set"),
        (B, TIMEOUT, "55000", "differs"),
        (B, LOCKS, "2000", "not set"),
    ]
    done = ask("set", "-f", str(file), "--execute", "--yes", "--undo-file", str(undo))
    assert done.code == 0 and {row["result"] for row in done.items} == {"applied"}, done.err
    until_shown(cluster, {(A, TIMEOUT): "50000", (B, TIMEOUT): "50000", (B, LOCKS): "300"})
    assert ask("diff", "-f", str(file), "--exact").code == 0
    assert by_kafka(cluster, B) == {TIMEOUT: "50000", LOCKS: "300"}
    assert ask("set", "-f", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "u")).code == 0
    until_shown(cluster, {(B, TIMEOUT): "55000"})
    assert by_kafka(cluster, A) == {}
    assert ask("unset", "*", B, "--execute", "--yes", "--undo-file", str(tmp_path / "v")).code == 0
    until_shown(cluster, {})


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
    admin.create_topics([NewTopic(group, 1, 1)])[group].result(_SECONDS)
    settings = ("settings", "set", f"{TIMEOUT}=50000", group, "--execute", "--yes")
    assert run_here(*settings, "--undo-file", str(tmp_path / "undo.json"), bootstrap=cluster.bootstrap).code == 0
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group, "group.protocol": "consumer"})
    consumer.subscribe([group])
    end = time.monotonic() + _SECONDS
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
    until_shown(cluster, {})


@on("2.8.2")
def test_brokers_that_are_too_old_are_named(cluster: Sandbox) -> None:
    for words in (("show", A), ("set", f"{TIMEOUT}=50000", A, "--execute", "--yes")):
        answer = run_here("settings", *words, "-o", "json", bootstrap=cluster.bootstrap)
        assert (answer.code, answer.items) == (1, [])
        assert "brokers before Kafka 4.0 have no settings of groups" in answer.failures[0]["message"]
