"""``kgroups delete`` and ``delete-offsets`` on real brokers, and what they took away brought back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.ground import LOG, LONG, Ground
from tests.integration.versions import oldest_and_newest

DO_IT = ("--execute", "--yes", "-o", "json")


def test_delete_and_undo_restore_groups(ground: Ground, tmp_path: Path) -> None:
    names = [f"acts-doomed-{number}" for number in range(5)]
    ground.commit({name: {LOG: {0: 6, 1: 7}} for name in names})
    undo = tmp_path / "undo"
    plan = ground.ask("delete", *names)
    assert plan.code == 0 and len(plan.lines) == 6 and "add --execute to apply" in plan.err
    assert set(names) <= set(ground.ask("list").lines)
    told = ground.ask("delete", *names, *DO_IT, "--undo-file", str(undo), "--debug")
    assert told.code == 0, told.err
    assert [(row["group"], row["commits"], row["result"]) for row in told.items] == [
        (name, 2, "applied") for name in names
    ]
    assert len(told.sent("DeleteGroups")) <= len(ground.sandbox.brokers)
    assert not set(names) & set(ground.ask("list").lines)
    again = ground.ask("reset-offsets", "--from-file", str(undo), *DO_IT, "--undo-file", str(tmp_path / "other"))
    assert again.code == 0, again.err
    assert ground.committed(*names) == {name: {(LOG, 0): 6, (LOG, 1): 7} for name in names}


def test_delete_of_active_and_missing_group_keeps_the_others(ground: Ground, tmp_path: Path) -> None:
    busy, idle = f"acts-undeletable-{ground.version}", "acts-deletable"
    ground.commit({busy: {LOG: {0: 6}}, idle: {LOG: {0: 6}}})
    ground.join(busy)
    told = ground.ask("delete", busy, idle, "acts-nobody", *DO_IT, "--undo-file", str(tmp_path / "undo"))
    assert told.code == 1
    assert [(row["group"], row["result"]) for row in told.items] == [(idle, "applied")]
    assert {failure["name"]: failure["error"] for failure in told.failures} == {
        busy: "NON_EMPTY_GROUP",
        "acts-nobody": "GROUP_ID_NOT_FOUND",
    }
    assert idle not in ground.ask("list").lines
    if ground.since("2.4"):
        ground.leave(busy)


@oldest_and_newest
def test_delete_over_librdkafka(ground: Ground, tmp_path: Path) -> None:
    ground.commit({"acts-rd-1": {LOG: {0: 6}}, "acts-rd-2": {LOG: {0: 6}}})
    words = ("delete", "--regex", "acts-rd-.", "--transport", "librdkafka", *DO_IT, "--undo-file", str(tmp_path / "u"))
    told = ground.ask(*words)
    assert told.code == 0, told.err
    assert [row["result"] for row in told.items] == ["applied", "applied"]
    assert not {"acts-rd-1", "acts-rd-2"} & set(ground.ask("list").lines)


def test_delete_offsets_and_undo_restore_them(ground: Ground, tmp_path: Path) -> None:
    if not ground.since("2.4"):
        pytest.skip("a commit cannot be taken away (KIP-496)")
    group, undo = "acts-trimmed", tmp_path / "undo"
    ground.commit({group: {LOG: {0: 6, 1: 7}, LONG: {0: 2}}})
    words = ("delete-offsets", group, "--topic", f"{LOG}:1", "--topic", LONG)
    told = ground.ask(*words, *DO_IT, "--undo-file", str(undo))
    assert told.code == 0, told.err
    assert [(row["topic"], row["partition"], row["current_offset"], row["result"]) for row in told.items] == [
        (LOG, 1, 7, "applied"),
        (LONG, 0, 2, "applied"),
    ]
    assert ground.committed(group) == {group: {(LOG, 0): 6}}
    assert ground.ask("reset-offsets", "--from-file", str(undo), *DO_IT, "--undo-file", str(tmp_path / "x")).code == 0
    assert ground.committed(group) == {group: {(LOG, 0): 6, (LOG, 1): 7, (LONG, 0): 2}}


def test_delete_offsets_of_subscribed_topic_is_refused_like_kafka(ground: Ground, tmp_path: Path) -> None:
    """Known before it is tried, and Kafka's own tool is refused with the same error."""
    if not ground.since("2.4"):
        pytest.skip("a commit cannot be taken away (KIP-496)")
    group = f"acts-reading-{ground.version}"
    ground.commit({group: {LOG: {0: 6}, LONG: {0: 2}}})
    ground.join(group)
    words = ("delete-offsets", group, "--topic", LOG, "--topic", LONG)
    told = ground.ask(*words, *DO_IT, "--undo-file", str(tmp_path / "undo"))
    assert told.code == 1
    assert [(row["topic"], row["result"]) for row in told.items] == [(LONG, "applied")]
    assert [failure["error"] for failure in told.failures] == ["GROUP_SUBSCRIBED_TO_TOPIC"]
    if ground.version == "4.3.1":
        said = ground.java("--delete-offsets", "--group", group, "--topic", LOG)
        assert "GroupSubscribedToTopicException" in said.out
    assert ground.committed(group) == {group: {(LOG, 0): 6}}
    ground.leave(group)


def test_delete_offsets_before_kafka_2_4_is_an_error(ground: Ground, tmp_path: Path) -> None:
    if ground.since("2.4"):
        pytest.skip("newer ones can")
    ground.commit({"acts-old": {LOG: {0: 6}}})
    for words in ((), (*DO_IT, "--undo-file", str(tmp_path / "undo"))):
        told = ground.ask("delete-offsets", "acts-old", "--topic", LOG, *words)
        assert told.code == 1 and "deleting a committed offset needs Kafka 2.4 (OffsetDelete)" in told.err
    assert not told.items and not (tmp_path / "undo").exists()
    assert ground.committed("acts-old") == {"acts-old": {(LOG, 0): 6}}
