"""Streams groups on real brokers: describe, reset, delete, and undo."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.model.operations.plan_file import parse_plan
from kgroups.sandbox import Sandbox
from tests.integration.asking import run_here
from tests.integration.streams_groups import BUSY, IDLE, INTERNAL, PARTITIONS, RECORDS, TOPIC, StreamsGroups
from tests.integration.streams_member import play_streams_group

REPARTITION, CHANGELOG = INTERNAL
ALL = list(range(PARTITIONS))


def test_describe_streams_members_and_tasks(streams: StreamsGroups) -> None:
    answer = streams.ask("describe", BUSY, "--members", "-o", "json")
    assert answer.code == 0
    first, second = answer.items
    assert first["process_id"] != second["process_id"]
    for row in answer.items:
        assert (row["target_active_tasks"], row["target_standby_tasks"]) == (row["active_tasks"], row["standby_tasks"])
        assert (row["warmup_tasks"], row["target_warmup_tasks"]) == ([], [])
        assert (row["client_tags"], row["topology_epoch"], row["upgraded"]) == ({"zone": "a"}, 0, True)
        assert row["current_epoch"] == row["target_epoch"]
    for kind, subtopologies in (("active_tasks", {"0", "1"}), ("standby_tasks", {"1"})):
        entries = [entry for row in answer.items for entry in row[kind]]
        assert {entry["subtopology"] for entry in entries} == subtopologies
        for name in subtopologies:
            parts = [entry["partitions"] for entry in entries if entry["subtopology"] == name]
            assert sorted(partition for part in parts for partition in part) == ALL
    read = {
        (entry["topic"], partition)
        for row in answer.items
        for entry in row["current_assignment"]
        for partition in entry["partitions"]
    }
    assert read == {(topic, partition) for topic in (TOPIC, REPARTITION) for partition in ALL}


def test_describe_streams_state_and_offsets(streams: StreamsGroups) -> None:
    (state,) = streams.ask("describe", BUSY, "--state", "-o", "json").items
    assert (state["type"], state["state"], state["members"], state["topology_epoch"]) == ("Streams", "Stable", 2, 0)
    assert state["group_epoch"] == state["target_assignment_epoch"] > 0
    answer = streams.ask("describe", BUSY, *IDLE, "-o", "json")
    assert answer.code == 0
    rows = {(row["group"], row["topic"], row["partition"]): row for row in answer.items}
    for partition in ALL:
        mine = rows[BUSY, TOPIC, partition]
        assert (mine["current_offset"], mine["lag"], mine["topic_role"]) == (RECORDS, 0, "source")
        assert mine["client_id"].startswith(f"{BUSY}-")
        assert rows[BUSY, REPARTITION, partition]["topic_role"] == "repartition source"
        idle = rows[IDLE[0], TOPIC, partition]
        assert (idle["current_offset"], idle["lag"], idle["consumer_id"]) == (10 + partition, 20 - partition, None)
    mixed = streams.ask("describe", "--all-groups", "--state", "-o", "json")
    assert {BUSY, *IDLE} <= {row["group"] for row in mixed.items if row["type"] == "Streams"}


def test_describe_streams_topology(streams: StreamsGroups) -> None:
    answer = streams.ask("describe", BUSY, "--topology", "-o", "json")
    assert {(row["subtopology"], row["role"], row["topic"], row["tasks"]) for row in answer.items} == {
        ("0", "source", TOPIC, PARTITIONS),
        ("0", "repartition sink", REPARTITION, PARTITIONS),
        ("1", "repartition source", REPARTITION, PARTITIONS),
        ("1", "changelog", CHANGELOG, PARTITIONS),
    }
    (changelog,) = (row for row in answer.items if row["role"] == "changelog")
    assert (changelog["partitions"], changelog["configs"]["cleanup.policy"]) == (PARTITIONS, "compact")


def test_reset_streams_input_topics_and_undo(streams: StreamsGroups, tmp_path: Path) -> None:
    name, undo = "streams-reset", tmp_path / "undo.json"
    streams.make_idle(name)
    before = streams.committed(name)
    words = ("reset-offsets", name, "--all-topics", "--to-earliest", "-o", "json")
    planned = streams.ask(*words)
    assert planned.code == 0 and {row["new_offset"] for row in planned.items} == {0}
    assert streams.committed(name) == before
    done = streams.ask(
        *words, "--delete-internal-topic", f"{name}-store-changelog", "--execute", "--yes", "--undo-file", str(undo)
    )
    assert (done.code, {row["result"] for row in done.items}) == (0, {"applied"})
    assert [row["topic"] for row in done.items if row["partition"] is None] == [f"{name}-store-changelog"]
    assert set(streams.committed(name)[name].values()) == {0}
    assert streams.topics(f"{name}-store-changelog") == set()
    words = ("--execute", "--yes", "--undo-file", str(tmp_path / "2.json"))
    assert streams.ask("reset-offsets", "--from-file", str(undo), *words).code == 0
    assert streams.committed(name) == before
    refused = streams.ask("reset-offsets", BUSY, "--all-topics", "--to-earliest", "--execute", "--yes")
    assert (refused.code, refused.out.count("applied")) == (1, 0)
    assert "NON_EMPTY_GROUP" in refused.err


def test_delete_streams_group_with_and_without_internal_topics(streams: StreamsGroups, tmp_path: Path) -> None:
    kept, gone = "streams-delete-kept", "streams-delete-gone"
    streams.make_idle(kept, gone)
    changelogs = {name: f"{name}-store-changelog" for name in (kept, gone)}
    alone = streams.ask("delete", kept, "--execute", "--yes", "--undo-file", str(tmp_path / "1.json"))
    assert alone.code == 0 and f"are kept: {changelogs[kept]}" in alone.err
    words = ("delete", gone, BUSY, "--delete-all-internal-topics", "-o", "json")
    planned = streams.ask(*words)
    assert [row["internal_topic"] for row in planned.items] == [None, changelogs[gone]]
    assert streams.topics(*changelogs.values()) == set(changelogs.values())
    done = streams.ask(*words, "--execute", "--yes", "--undo-file", str(tmp_path / "2.json"))
    assert (done.code, [row["result"] for row in done.items]) == (1, ["applied", "applied"])
    assert "NON_EMPTY_GROUP" in done.err
    assert streams.topics(*changelogs.values(), *INTERNAL) == {changelogs[kept], *INTERNAL}
    left = {row["group"] for row in streams.ask("list", "--type", "streams", "-o", "json").items}
    assert left & {kept, gone, BUSY} == {BUSY}


def test_undo_of_deleted_streams_group_is_taken_over_by_the_application(streams: StreamsGroups, tmp_path: Path) -> None:
    name, undo = "streams-again", tmp_path / "undo.json"
    streams.make_idle(name)
    before = streams.committed(name)
    assert streams.ask("delete", name, "--execute", "--yes", "--undo-file", str(undo)).code == 0
    words = ("--execute", "--yes", "--undo-file", str(tmp_path / "2.json"))
    assert streams.ask("reset-offsets", "--from-file", str(undo), *words).code == 0
    assert streams.committed(name) == before
    play_streams_group(streams.sandbox.bootstrap, name, TOPIC)
    (state,) = streams.ask("describe", name, "--state", "-o", "json").items
    assert (state["type"], streams.committed(name)) == ("Streams", before)


def test_delete_streams_offsets(streams: StreamsGroups, tmp_path: Path) -> None:
    name = "streams-forget"
    streams.make_idle(name)
    words = ("--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
    assert streams.ask("delete-offsets", name, "--topic", f"{TOPIC}:1", *words).code == 0
    assert streams.committed(name) == {name: {(TOPIC, 0): 10, (TOPIC, 2): 12}}
    assert parse_plan((tmp_path / "undo.json").read_text(), "undo").rows
    refused = streams.ask("delete-offsets", BUSY, "--topic", TOPIC)
    assert (refused.code, "GROUP_SUBSCRIBED_TO_TOPIC" in refused.err) == (1, True)


@pytest.mark.parametrize("words", [("describe", "streams-nobody", "--topology"), ("list", "--type", "streams")])
def test_streams_options_on_older_brokers_are_clear_errors(cluster: Sandbox, words: tuple[str, ...]) -> None:
    if "streams" in cluster.version.group_types:
        pytest.skip("has streams groups")
    answer = run_here(*words, bootstrap=cluster.bootstrap)
    assert answer.out.strip().splitlines()[1:] == []
    assert answer.err.count("\n") <= 2 and "Traceback" not in answer.err
