"""Share groups (KIP-932) in ``kgroups``: describe, lag, reset, undo, delete on real brokers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.model.operations.plan_file import parse_plan
from tests.integration.share_groups import AHEAD, BEREFT, CLASSIC, GONE, IDLE, LIVE, LOG, MORE, ShareGroups

Starts = dict[tuple[str, int], int | None]
MOVED = "sharers-moved"
AT: Starts = {(LOG, 0): 5, (LOG, 1): 10, (MORE, 0): 3}


@pytest.fixture
def movable_share_group(share_groups: ShareGroups, tmp_path: Path) -> ShareGroups:
    """A new share group with start offsets that a test may change."""
    share_groups.ask("delete", MOVED, "--execute", "--yes", "--undo-file", str(tmp_path / "0.json"))
    share_groups.start({MOVED: {LOG: {0: 5, 1: 10}, MORE: {0: 3}}})
    return share_groups


def test_describe_share_groups_with_other_groups(share_groups: ShareGroups) -> None:
    answer = share_groups.ask("describe", LIVE, IDLE, AHEAD, BEREFT, CLASSIC, "-o", "json")
    rows = {(row["group"], row["topic"], row["partition"]): row for row in answer.items}
    assert answer.code == 0
    assert [rows[LIVE, LOG, at]["lag"] for at in (0, 1)] == [0, 0]
    idle = [rows[IDLE, LOG, 0], rows[IDLE, LOG, 1], rows[IDLE, LOG, 2], rows[IDLE, MORE, 0]]
    assert [(row["start_offset"], row["log_end_offset"], row["lag"]) for row in idle] == [
        (5, 20, 15),
        (10, 10, 0),
        (None, 0, None),
        (3, 7, 4),
    ]
    assert idle[2]["note"] == "not read yet"
    assert (rows[AHEAD, LOG, 0]["lag"], rows[AHEAD, LOG, 0]["note"]) == (-480, "starts beyond the end of the log")
    assert not [key for key in rows if key[1] == GONE], "brokers forget it with the topic"
    committed = rows[CLASSIC, LOG, 0]
    assert (committed["current_offset"], committed["start_offset"]) == (1, None)


def test_describe_share_group_members_and_state(share_groups: ShareGroups) -> None:
    members = share_groups.ask("describe", LIVE, "--members", "-o", "json").items
    assert {row["client_id"] for row in members} == {f"{LIVE}-0", f"{LIVE}-1"}
    assert all(row["subscription"]["topics"] == [LOG] and row["current_epoch"] > 0 for row in members)
    assert {at for row in members for entry in row["current_assignment"] for at in entry["partitions"]} == {0, 1, 2}
    (state,) = share_groups.ask("describe", LIVE, "--state", "-o", "json").items
    assert (state["state"], state["members"], state["type"], state["assignment_strategy"]) == (
        *("Stable", 2, "Share"),
        "simple",
    )
    assert state["group_epoch"] >= state["target_assignment_epoch"] > 0
    listed = share_groups.ask("list", "--type", "share", "-o", "json").items
    assert {LIVE, IDLE, AHEAD, BEREFT} <= {row["group"] for row in listed}


def test_lag_of_share_groups(share_groups: ShareGroups) -> None:
    rows = {row["group"]: row for row in share_groups.ask("lag", LIVE, IDLE, "--time", "-o", "json").items}
    assert (rows[IDLE]["total_lag"], rows[IDLE]["behind"], rows[IDLE]["uncommitted"]) == (19, 2, 1)
    assert rows[IDLE]["time_lag_ms"] > 0
    assert rows[LIVE]["max_lag"] == 0 and "topics that no member subscribes to" in rows[LIVE]["note"]


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (["--to-earliest"], {(LOG, 0): 0, (LOG, 1): 0, (MORE, 0): 0}),
        (["--to-latest"], {(LOG, 0): 20, (LOG, 1): 10, (MORE, 0): 7}),
        (["--to-offset", "8"], {(LOG, 0): 8, (LOG, 1): 8, (MORE, 0): 7}),
        (["--shift-by", "-4"], {(LOG, 0): 1, (LOG, 1): 6, (MORE, 0): 0}),
        (["--to-datetime", "1970-01-01T00:00:00Z"], {(LOG, 0): 0, (LOG, 1): 0, (MORE, 0): 0}),
        (["--to-group", IDLE], AT),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_reset_share_group_and_undo(
    movable_share_group: ShareGroups, tmp_path: Path, scenario: list[str], expected: Starts
) -> None:
    undo = tmp_path / "undo.json"
    shown = movable_share_group.ask("reset-offsets", MOVED, "--all-topics", *scenario)
    assert f"group '{MOVED}': brokers delete the states of records after the new offset" in shown.err
    assert (shown.code, movable_share_group.starts(MOVED)) == (0, AT), "a dry run"
    done = movable_share_group.ask(
        "reset-offsets", MOVED, "--all-topics", *scenario, "--execute", "--yes", "--undo-file", str(undo), "-o", "json"
    )
    assert (done.code, {row["result"] for row in done.items}) == (0, {"applied"})
    assert movable_share_group.starts(MOVED) == expected
    back = movable_share_group.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "again.json")
    )
    assert (back.code, movable_share_group.starts(MOVED)) == (0, AT)


def test_undo_of_deleted_groups_restores_their_types(movable_share_group: ShareGroups, tmp_path: Path) -> None:
    undo = tmp_path / "undo.json"
    deleted = movable_share_group.ask("delete", MOVED, CLASSIC, LIVE, "--execute", "--yes", "--undo-file", str(undo))
    assert deleted.code == 1
    assert f"group '{LIVE}': the group has active members" in deleted.err
    gone = {
        failure["name"]: failure["error"]
        for failure in movable_share_group.ask("describe", MOVED, CLASSIC, "-o", "json").failures
    }
    assert gone == dict.fromkeys((MOVED, CLASSIC), "GROUP_ID_NOT_FOUND")
    back = movable_share_group.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "again.json")
    )
    assert back.code == 0
    assert movable_share_group.starts(MOVED) == AT
    types = {row["group"]: row["type"] for row in movable_share_group.ask("list", "--type", "-o", "json").items}
    assert (types[MOVED], types[CLASSIC]) == ("Share", "Classic")


def test_delete_share_offsets_and_undo(movable_share_group: ShareGroups, tmp_path: Path) -> None:
    undo = tmp_path / "undo.json"
    some = movable_share_group.ask("delete-offsets", MOVED, "--topic", f"{LOG}:0", "--execute", "--yes")
    assert (some.code, movable_share_group.starts(MOVED)) == (1, AT)
    assert "share groups can only delete the offsets of whole topics" in some.err
    whole = movable_share_group.ask(
        "delete-offsets", MOVED, LIVE, "--topic", LOG, "--execute", "--yes", "--undo-file", str(undo)
    )
    assert whole.code == 1
    assert f"group '{LIVE}': the group has active members" in whole.err
    assert movable_share_group.starts(MOVED) == {(MORE, 0): 3}
    assert parse_plan(undo.read_text(), "undo").groups == (MOVED,)
    movable_share_group.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "again.json")
    )
    assert movable_share_group.starts(MOVED) == AT
    undone = movable_share_group.ask(
        "reset-offsets", "--from-file", str(tmp_path / "again.json"), "--execute", "--yes", "--undo-file", "/dev/null/x"
    )
    assert undone.code == 2, "no undo can be written, and nothing is changed"
    assert movable_share_group.starts(MOVED) == AT


def test_undo_removes_new_start_offsets_by_topic(movable_share_group: ShareGroups, tmp_path: Path) -> None:
    """A partition that the group had not read before, of a topic that it had nothing of, and of one that it had."""
    undo = tmp_path / "undo.json"
    movable_share_group.ask(
        "delete-offsets", MOVED, "--topic", MORE, "--execute", "--yes", "--undo-file", str(tmp_path / "1.json")
    )
    movable_share_group.ask(
        *("reset-offsets", MOVED, "--topic", MORE, "--topic", f"{LOG}:2", "--to-latest"),
        *("--execute", "--yes", "--undo-file", str(undo)),
    )
    assert movable_share_group.starts(MOVED) == {(LOG, 0): 5, (LOG, 1): 10, (LOG, 2): 0, (MORE, 0): 7}
    back = movable_share_group.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "2.json")
    )
    assert back.code == 0
    assert movable_share_group.starts(MOVED) == {(LOG, 0): 5, (LOG, 1): 10, (LOG, 2): None}


def test_active_share_group_is_not_changed(share_groups: ShareGroups) -> None:
    before = share_groups.starts(LIVE)
    answer = share_groups.ask("reset-offsets", LIVE, "--all-topics", "--to-earliest", "--execute", "--yes")
    assert (answer.code, share_groups.starts(LIVE)) == (1, before)
    assert "the group has active members (state Stable); stop them first" in answer.err
    removed = share_groups.ask("remove-members", LIVE, "--all-members", "--execute", "--yes")
    assert removed.code == 1
    assert "members of share groups cannot be removed; stop them" in removed.err
