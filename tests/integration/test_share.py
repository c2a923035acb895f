"""Share groups (KIP-932) in ``kgroups``: described, lag, reset, taken back, deleted; as the cluster has them then."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.model.operations.plan_file import parse_plan
from tests.integration.sharers import AHEAD, BEREFT, CLASSIC, GONE, IDLE, LIVE, LOG, MORE, Sharers

Starts = dict[tuple[str, int], int | None]
MOVED = "sharers-moved"
AT: Starts = {(LOG, 0): 5, (LOG, 1): 10, (MORE, 0): 3}


@pytest.fixture
def moved(sharers: Sharers, tmp_path: Path) -> Sharers:
    """A group at its place, which a test may move; made anew."""
    sharers.ask("delete", MOVED, "--execute", "--yes", "--undo-file", str(tmp_path / "0.json"))
    sharers.start({MOVED: {LOG: {0: 5, 1: 10}, MORE: {0: 3}}})
    return sharers


def test_describe_share_groups_with_other_groups(sharers: Sharers) -> None:
    told = sharers.ask("describe", LIVE, IDLE, AHEAD, BEREFT, CLASSIC, "-o", "json")
    rows = {(row["group"], row["topic"], row["partition"]): row for row in told.items}
    assert told.code == 0
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


def test_describe_share_group_members_and_state(sharers: Sharers) -> None:
    members = sharers.ask("describe", LIVE, "--members", "-o", "json").items
    assert {row["client_id"] for row in members} == {f"{LIVE}-0", f"{LIVE}-1"}
    assert all(row["subscription"]["topics"] == [LOG] and row["current_epoch"] > 0 for row in members)
    assert {at for row in members for entry in row["current_assignment"] for at in entry["partitions"]} == {0, 1, 2}
    (state,) = sharers.ask("describe", LIVE, "--state", "-o", "json").items
    assert (state["state"], state["members"], state["type"], state["assignment_strategy"]) == (
        *("Stable", 2, "Share"),
        "simple",
    )
    assert state["group_epoch"] >= state["target_assignment_epoch"] > 0
    listed = sharers.ask("list", "--type", "share", "-o", "json").items
    assert {LIVE, IDLE, AHEAD, BEREFT} <= {row["group"] for row in listed}


def test_lag_of_share_groups(sharers: Sharers) -> None:
    rows = {row["group"]: row for row in sharers.ask("lag", LIVE, IDLE, "--time", "-o", "json").items}
    assert (rows[IDLE]["total_lag"], rows[IDLE]["behind"], rows[IDLE]["uncommitted"]) == (19, 2, 1)
    assert rows[IDLE]["time_lag_ms"] > 0
    assert rows[LIVE]["max_lag"] == 7, "nobody reads the other topic"


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
def test_reset_share_group_and_undo(moved: Sharers, tmp_path: Path, scenario: list[str], expected: Starts) -> None:
    undo = tmp_path / "undo.json"
    shown = moved.ask("reset-offsets", MOVED, "--all-topics", *scenario)
    assert (shown.code, moved.starts(MOVED)) == (0, AT), "a dry run"
    done = moved.ask(
        "reset-offsets", MOVED, "--all-topics", *scenario, "--execute", "--yes", "--undo-file", str(undo), "-o", "json"
    )
    assert (done.code, {row["result"] for row in done.items}) == (0, {"applied"})
    assert moved.starts(MOVED) == expected
    back = moved.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "again.json")
    )
    assert (back.code, moved.starts(MOVED)) == (0, AT)


def test_undo_of_deleted_groups_restores_their_types(moved: Sharers, tmp_path: Path) -> None:
    undo = tmp_path / "undo.json"
    deleted = moved.ask("delete", MOVED, CLASSIC, LIVE, "--execute", "--yes", "--undo-file", str(undo))
    assert deleted.code == 1
    assert f"group '{LIVE}': the group has members" in deleted.err
    gone = {
        failure["name"]: failure["error"] for failure in moved.ask("describe", MOVED, CLASSIC, "-o", "json").failures
    }
    assert gone == dict.fromkeys((MOVED, CLASSIC), "GROUP_ID_NOT_FOUND")
    back = moved.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "again.json")
    )
    assert back.code == 0
    assert moved.starts(MOVED) == AT
    types = {row["group"]: row["type"] for row in moved.ask("list", "--type", "-o", "json").items}
    assert (types[MOVED], types[CLASSIC]) == ("Share", "Classic")


def test_delete_share_offsets_and_undo(moved: Sharers, tmp_path: Path) -> None:
    undo = tmp_path / "undo.json"
    some = moved.ask("delete-offsets", MOVED, "--topic", f"{LOG}:0", "--execute", "--yes")
    assert (some.code, moved.starts(MOVED)) == (1, AT)
    assert "share groups can only delete the offsets of whole topics" in some.err
    whole = moved.ask("delete-offsets", MOVED, LIVE, "--topic", LOG, "--execute", "--yes", "--undo-file", str(undo))
    assert whole.code == 1
    assert f"group '{LIVE}': the group has members" in whole.err
    assert moved.starts(MOVED) == {(MORE, 0): 3}
    assert parse_plan(undo.read_text(), "undo").groups == (MOVED,)
    moved.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "again.json")
    )
    assert moved.starts(MOVED) == AT
    undone = moved.ask(
        "reset-offsets", "--from-file", str(tmp_path / "again.json"), "--execute", "--yes", "--undo-file", "/dev/null/x"
    )
    assert undone.code == 2, "no undo can be written, and nothing is changed"
    assert moved.starts(MOVED) == AT


def test_undo_removes_new_start_offsets_by_topic(moved: Sharers, tmp_path: Path) -> None:
    """A partition that the group had not read before, of a topic that it had nothing of, and of one that it had."""
    undo = tmp_path / "undo.json"
    moved.ask("delete-offsets", MOVED, "--topic", MORE, "--execute", "--yes", "--undo-file", str(tmp_path / "1.json"))
    moved.ask(
        *("reset-offsets", MOVED, "--topic", MORE, "--topic", f"{LOG}:2", "--to-latest"),
        *("--execute", "--yes", "--undo-file", str(undo)),
    )
    assert moved.starts(MOVED) == {(LOG, 0): 5, (LOG, 1): 10, (LOG, 2): 0, (MORE, 0): 7}
    back = moved.ask(
        "reset-offsets", "--from-file", str(undo), "--execute", "--yes", "--undo-file", str(tmp_path / "2.json")
    )
    assert back.code == 0
    assert moved.starts(MOVED) == {(LOG, 0): 5, (LOG, 1): 10, (LOG, 2): None}


def test_active_share_group_is_not_changed(sharers: Sharers) -> None:
    before = sharers.starts(LIVE)
    told = sharers.ask("reset-offsets", LIVE, "--all-topics", "--to-earliest", "--execute", "--yes")
    assert (told.code, sharers.starts(LIVE)) == (1, before)
    assert "the group has members, its state is Stable: stop them first" in told.err
    removed = sharers.ask("remove-members", LIVE, "--all-members", "--execute", "--yes")
    assert removed.code == 1
    assert "a share group: its members cannot be removed, only stopped" in removed.err
