"""``kgroups delete`` and ``delete-offsets`` on real brokers, and their undo."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.scratch_cluster import LOG, LONG, ScratchCluster

DO_IT = ("--execute", "--yes", "-o", "json")


def test_delete_and_undo_restore_groups(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    names = [f"acts-deleted-{number}" for number in range(5)]
    scratch_cluster.commit({name: {LOG: {0: 6, 1: 7}} for name in names})
    undo = tmp_path / "undo"
    plan = scratch_cluster.ask("delete", *names)
    assert plan.code == 0 and len(plan.lines) == 6 and "add --execute to apply" in plan.err
    assert set(names) <= set(scratch_cluster.ask("list").lines)
    answer = scratch_cluster.ask("delete", *names, *DO_IT, "--undo-file", str(undo), "--debug")
    assert answer.code == 0, answer.err
    assert [(row["group"], row["commits"], row["result"]) for row in answer.items] == [
        (name, 2, "applied") for name in names
    ]
    assert len(answer.sent("DeleteGroups")) <= len(scratch_cluster.sandbox.brokers)
    assert not set(names) & set(scratch_cluster.ask("list").lines)
    again = scratch_cluster.ask(
        "reset-offsets", "--from-file", str(undo), *DO_IT, "--undo-file", str(tmp_path / "other")
    )
    assert again.code == 0, again.err
    assert scratch_cluster.committed(*names) == {name: {(LOG, 0): 6, (LOG, 1): 7} for name in names}


def test_delete_of_active_and_missing_group_keeps_the_others(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    busy, idle = f"acts-undeletable-{scratch_cluster.version}", "acts-deletable"
    scratch_cluster.commit({busy: {LOG: {0: 6}}, idle: {LOG: {0: 6}}})
    scratch_cluster.join(busy)
    answer = scratch_cluster.ask("delete", busy, idle, "acts-nobody", *DO_IT, "--undo-file", str(tmp_path / "undo"))
    assert answer.code == 1
    assert [(row["group"], row["result"]) for row in answer.items] == [(idle, "applied")]
    assert {failure["name"]: failure["error"] for failure in answer.failures} == {
        busy: "NON_EMPTY_GROUP",
        "acts-nobody": "GROUP_ID_NOT_FOUND",
    }
    assert idle not in scratch_cluster.ask("list").lines
    if scratch_cluster.since("2.4"):
        scratch_cluster.leave(busy)


def test_delete_offsets_and_undo_restore_them(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    if not scratch_cluster.since("2.4"):
        pytest.skip("a commit cannot be taken away (KIP-496)")
    group, undo = "acts-trimmed", tmp_path / "undo"
    scratch_cluster.commit({group: {LOG: {0: 6, 1: 7}, LONG: {0: 2}}})
    words = ("delete-offsets", group, "--topic", f"{LOG}:1", "--topic", LONG)
    answer = scratch_cluster.ask(*words, *DO_IT, "--undo-file", str(undo))
    assert answer.code == 0, answer.err
    assert [(row["topic"], row["partition"], row["current_offset"], row["result"]) for row in answer.items] == [
        (LOG, 1, 7, "applied"),
        (LONG, 0, 2, "applied"),
    ]
    assert scratch_cluster.committed(group) == {group: {(LOG, 0): 6}}
    assert (
        scratch_cluster.ask("reset-offsets", "--from-file", str(undo), *DO_IT, "--undo-file", str(tmp_path / "x")).code
        == 0
    )
    assert scratch_cluster.committed(group) == {group: {(LOG, 0): 6, (LOG, 1): 7, (LONG, 0): 2}}


def test_delete_offsets_of_subscribed_topic_is_refused_like_kafka(
    scratch_cluster: ScratchCluster, tmp_path: Path
) -> None:
    """Known before it is tried, and Kafka's own tool is refused with the same error."""
    if not scratch_cluster.since("2.4"):
        pytest.skip("a commit cannot be taken away (KIP-496)")
    group = f"acts-reading-{scratch_cluster.version}"
    scratch_cluster.commit({group: {LOG: {0: 6}, LONG: {0: 2}}})
    scratch_cluster.join(group)
    words = ("delete-offsets", group, "--topic", LOG, "--topic", LONG)
    answer = scratch_cluster.ask(*words, *DO_IT, "--undo-file", str(tmp_path / "undo"))
    assert answer.code == 1
    assert [(row["topic"], row["result"]) for row in answer.items] == [(LONG, "applied")]
    assert [failure["error"] for failure in answer.failures] == ["GROUP_SUBSCRIBED_TO_TOPIC"]
    if scratch_cluster.version == "4.3.1":
        output = scratch_cluster.java("--delete-offsets", "--group", group, "--topic", LOG)
        assert "GroupSubscribedToTopicException" in output.out
    assert scratch_cluster.committed(group) == {group: {(LOG, 0): 6}}
    scratch_cluster.leave(group)


def test_delete_offsets_before_kafka_2_4_is_an_error(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    if scratch_cluster.since("2.4"):
        pytest.skip("newer ones can")
    scratch_cluster.commit({"acts-old": {LOG: {0: 6}}})
    for words in ((), (*DO_IT, "--undo-file", str(tmp_path / "undo"))):
        answer = scratch_cluster.ask("delete-offsets", "acts-old", "--topic", LOG, *words)
        assert answer.code == 1 and "deleting a committed offset needs Kafka 2.4 (OffsetDelete)" in answer.err
    assert not answer.items and not (tmp_path / "undo").exists()
    assert scratch_cluster.committed("acts-old") == {"acts-old": {(LOG, 0): 6}}
