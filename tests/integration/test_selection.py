"""The selection of groups, on real brokers: globs, names with wildcards, states, types, and topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.known_cluster import KnownCluster
from tests.integration.scratch_cluster import LOG, ScratchCluster
from tests.integration.versions import oldest_and_newest

EXECUTE = ("--execute", "--yes", "-o", "json")


def selected(known_cluster: KnownCluster, *words: str) -> list[str]:
    answer = known_cluster.ask(*words, "-o", "json")
    assert answer.code == 0, answer.err
    return sorted({row["group"] for row in answer.items})


@pytest.mark.parametrize("transport", ["wire", "librdkafka"])
def test_glob_selects_the_same_groups_in_every_command(known_cluster: KnownCluster, transport: str) -> None:
    expected = sorted(name for name in known_cluster.groups if name.startswith("orders-"))
    assert len(expected) > 3
    for words in (("list",), ("describe",), ("describe", "--summary"), ("lag",)):
        found = selected(known_cluster, *words, "orders-*", "--transport", transport)
        assert [name for name in found if name in known_cluster.groups] == expected, words


def test_class_and_question_mark_match_one_character(known_cluster: KnownCluster) -> None:
    assert selected(known_cluster, "list", "orders-[s]tick?") == ["orders-sticky"]
    assert selected(known_cluster, "list", "orders-stick?", "payments-e*") == ["orders-sticky", "payments-empty"]


def test_state_restricts_a_glob(known_cluster: KnownCluster) -> None:
    """Old brokers do not report states in a list."""
    expected = sorted(
        name for name, group in known_cluster.groups.items() if name.startswith("payments-") and group.state == "Empty"
    )
    assert expected == ["payments-empty"]
    for words in (("list", "--state"), ("lag", "--state"), ("describe", "--in-state")):
        found = selected(known_cluster, *words, "empty", "payments-*")
        assert [name for name in found if name in known_cluster.groups] == expected


def test_type_restricts_all_groups(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("lag", "--type", "classic", "-o", "json")
    if known_cluster.since("3.8"):
        names = {name for name, group in known_cluster.groups.items() if group.type == "Classic"}
        assert {row["group"] for row in answer.items} >= names
        others = {name for name, group in known_cluster.groups.items() if group.type != "Classic"}
        assert not others & {row["group"] for row in answer.items}
    else:
        assert answer.code == 1 and answer.items == []
        assert "cannot filter by type" in answer.err


def test_list_selects_by_topic_as_describe_does(known_cluster: KnownCluster) -> None:
    listed = selected(known_cluster, "list", "--topic", "payments")
    assert "payments-empty" in listed and "orders-range" not in listed
    assert listed == selected(known_cluster, "lag", "--topic", "payments")


def test_glob_without_match_is_a_failure_next_to_the_other_groups(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("lag", "order-*", "payments-empty", "-o", "json")
    assert answer.code == 1 and [row["group"] for row in answer.items] == ["payments-empty"]
    assert [(each["name"], each["error"]) for each in answer.failures] == [("order-*", "GROUP_ID_NOT_FOUND")]
    assert "similar names: 'orders-" in answer.failures[0]["hint"]


@oldest_and_newest
def test_group_with_the_name_of_the_glob_is_the_only_one(scratch_cluster: ScratchCluster, tmp_path: Path) -> None:
    names = ("acts-pick-*", "acts-pick-1", "acts-pick-2")
    scratch_cluster.commit({name: {LOG: {0: 6}} for name in names})
    for words in (("list",), ("lag",), ("describe", "--state"), ("delete",)):
        for transport in ("wire", *(("librdkafka",) if words != ("delete",) else ())):
            answer = scratch_cluster.ask(*words, "acts-pick-*", "--transport", transport, "-o", "json")
            assert {row["group"] for row in answer.items} == {"acts-pick-*"}, (words, transport)
    refused = scratch_cluster.ask("lag", "acts-pick-*", "--state", "empty")
    assert refused.code == 2 and "'acts-pick-*' is the name of a group" in refused.err
    undo = ("--undo-file", str(tmp_path / "1"))
    assert scratch_cluster.ask("delete", "--group", "acts-pick-*", *EXECUTE, *undo).code == 0
    plan = scratch_cluster.ask("delete", "acts-pick-*", "-o", "json")
    assert [row["group"] for row in plan.items] == ["acts-pick-1", "acts-pick-2"]
    assert {"acts-pick-1", "acts-pick-2"} <= set(scratch_cluster.ask("list").lines)
    undo = ("--undo-file", str(tmp_path / "2"))
    answer = scratch_cluster.ask("delete", "acts-pick-*", "--state", "empty", *EXECUTE, *undo)
    assert [(row["group"], row["result"]) for row in answer.items] == [
        ("acts-pick-1", "applied"),
        ("acts-pick-2", "applied"),
    ]


def test_delete_by_topic_deletes_all_offsets_of_the_groups(scratch_cluster: ScratchCluster) -> None:
    scratch_cluster.commit({"acts-topic-1": {LOG: {0: 6, 1: 7}}, "acts-topic-2": {}})
    answer = scratch_cluster.ask("delete", "acts-topic-*", "--topic", LOG, "-o", "json")
    assert [(row["group"], row["commits"]) for row in answer.items] == [("acts-topic-1", 2)]
    missing = scratch_cluster.ask("delete", "acts-topic-*", "--topic", "nosuch")
    assert missing.code == 1 and "topic 'nosuch': the topic or partition does not exist" in missing.err
