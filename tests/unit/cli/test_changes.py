"""Changes on the command line over fake brokers: plan, confirmation, undo file, and write."""

from __future__ import annotations

import errno
import json
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin import still_committing
from kgroups.admin.change.apply import apply_offsets, remove_members
from kgroups.admin.change.apply.chunks import FIRST_GROUPS
from kgroups.admin.change.apply.revalidate import revalidate_offsets
from kgroups.admin.offsets_topic.recent_commits import recent_commits
from kgroups.cli.change.plan_source import LARGEST, read_plan
from kgroups.errors import ClusterUnreachable
from kgroups.model.offsets import Commit
from kgroups.model.operations.origin import topic_id_text
from kgroups.model.operations.plan_file import parse_plan
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.cluster_state import FakeMember
from tests.fakes.offset_records import commit_key, commit_value
from tests.fakes.record_batches import batch
from tests.fakes.versions import DESCRIBE_LOG_DIRS, KAFKA

Run = Callable[..., tuple[int, str, str]]
MEMBER = FakeMember("m", {"t": (0,)})


def shop(fake: FakeCluster) -> None:
    fake.state.topic("t", [0, 1], start=10, end=100, history={1: {3: 10, 4: 51}})
    fake.state.group("a", 0, commits={("t", 0): 50, ("t", 1): Commit(1, 51, 3, "noted")})
    fake.state.group("b", 1, commits={("t", 0): 5})
    fake.state.group("busy", 1, state="Stable", members=(MEMBER,), commits={("t", 0): 50})


@pytest.fixture
def served(serve: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return serve(fill=shop)


@pytest.fixture
def ask(run_cli: Run, served: Any) -> Run:
    return lambda command, *words: run_cli(command, "-b", served.bootstrap, *words)


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def commits(served: Any, group: str) -> dict[tuple[str, int], Any]:
    return dict(served.state.groups[group].commits)


def written(served: Any) -> list[str]:
    changing = {"OffsetCommit", "OffsetDelete", "DeleteGroups", "LeaveGroup"}
    return [request.api for request in served.fake.requests if request.api in changing]


def test_reset_dry_run_shows_the_plan_and_writes_nothing(ask: Run, served: Any, tmp_path: Path) -> None:
    code, out, err = ask("reset-offsets", "a", "b", "--topic", "t:0", "--to-offset", "7")
    assert rows(out)[:2] == [
        ["GROUP", "TOPIC", "PARTITION", "OLD-OFFSET", "NEW-OFFSET", "DISTANCE", "NOTE"],
        ["a", "t", "0", "50", "10", "-40", "requested", "offset", "7", "is", "below", "log", "start"],
    ]
    where = f"cluster fake-cluster ({served.bootstrap})"
    assert (code, err) == (0, f"kgroups: note: dry run on {where}: nothing was changed; add --execute to apply\n")
    assert not written(served) and not list(tmp_path.iterdir())


def test_reset_execute_writes_offsets_and_an_undo_file(ask: Run, served: Any, tmp_path: Path) -> None:
    before = commits(served, "a")
    words = ("a", "new", "--topic", "t", "--to-latest", "--create-group", "--execute", "--yes", "-o", "json")
    code, out, err = ask("reset-offsets", *words)
    assert code == 0, err
    assert [
        (row["group"], row["old_offset"], row["new_offset"], row["result"]) for row in json.loads(out)["items"]
    ] == [
        ("a", 50, 100, "applied"),
        ("a", 51, 100, "applied"),
        ("new", None, 100, "applied"),
        ("new", None, 100, "applied"),
    ]
    (undo,) = tmp_path.iterdir()
    assert undo.name.startswith("kgroups-undo-2-groups-") and undo.stat().st_mode & 0o777 == 0o600
    assert f"the old offsets are in {undo.name}" in err
    code, out, err = ask("reset-offsets", "--from-file", undo.name, "--execute", "-y", "--undo-file", "second.json")
    assert code == 0, err
    assert {row[-1] for row in rows(out)[1:]} == {"applied"}
    assert commits(served, "a") == {pair: c if isinstance(c, Commit) else Commit(0, c, 4) for pair, c in before.items()}
    assert commits(served, "new") == {}


def test_reset_group_with_members_is_refused_and_exits_1(ask: Run, served: Any) -> None:
    code, out, err = ask("reset-offsets", "--regex", "b.*", "--all-topics", "--to-earliest", "--execute", "--yes")
    assert code == 1
    assert [row[0] for row in rows(out)[1:]] == ["b"]
    assert "group 'busy': the group has active members (state Stable); stop them first [NON_EMPTY_GROUP" in err
    assert commits(served, "b") == {("t", 0): Commit(0, 10)}
    assert commits(served, "busy") == {("t", 0): 50}


@pytest.mark.parametrize(
    "words",
    [
        ("reset-offsets", "tpyo", "a", "--topic", "t:0", "--to-earliest"),
        ("reset-offsets", "tpyo", "a", "--topic", "t:0", "--to-group", "b"),
        ("reset-offsets", "--from-file", "plan.csv"),
        ("delete", "tpyo", "a"),
        ("delete-offsets", "tpyo", "a", "--topic", "t:0"),
        ("remove-members", "tpyo", "busy", "--all-members"),
    ],
)
def test_mistyped_group_is_a_failure_and_others_are_processed(
    ask: Run, served: Any, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "plan.csv").write_text("tpyo,t,0,60\na,t,0,70\n")
    code, out, err = ask(*words, "--execute", "--yes", "-o", "json")
    shown = json.loads(out)
    assert code == 1 and {row["result"] for row in shown["items"]} == {"applied"}
    assert [(each["name"], each["error"]) for each in shown["failures"]] == [("tpyo", "GROUP_ID_NOT_FOUND")]
    assert "group 'tpyo': the group does not exist" in err and "tpyo" not in served.state.groups


@pytest.mark.parametrize(
    "words",
    [
        ("reset-offsets", "--all-topics", "--to-earliest"),
        ("delete",),
        ("delete-offsets", "--topic", "t"),
        ("remove-members", "--all-members"),
    ],
)
def test_pattern_that_matches_no_group_is_a_failure(ask: Run, served: Any, words: tuple[str, ...]) -> None:
    code, out, err = ask(words[0], "--regex", "zz.*", *words[1:], "--execute", "--yes", "-o", "json")
    assert code == 1 and not written(served)
    assert "no group matches --regex 'zz.*'" in err and "has no committed offsets on" not in err
    assert [each["message"] for each in json.loads(out)["failures"]] == [
        "no group matches --regex 'zz.*' (the whole name must)"
    ]
    assert "committed offset on topic" not in err, "no group, no word about its offsets"
    assert "no group matches" not in ask(words[0], "--regex", "b.*", *words[1:])[2]


@pytest.mark.parametrize(("flag", "value"), [("--to-offset", "1_0"), ("--shift-by", "1_0"), ("--to-offset", "\u0663")])
def test_offsets_are_ascii_digits_as_in_plan_files(ask: Run, served: Any, flag: str, value: str) -> None:
    code, _, err = ask("reset-offsets", "a", "--all-topics", flag, value)
    assert code == 2 and "is not a whole number" in err and not served.fake.requests


def test_plan_is_read_from_stdin_and_with_cr_line_endings(
    ask: Run, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plan.csv").write_bytes(b"a,t,0,60\ra,t,1,70\r")
    rows_of_file = ask("reset-offsets", "--from-file", "plan.csv")[1]
    assert [row[4] for row in rows(rows_of_file)[1:]] == ["60", "70"]
    command = [sys.executable, "-m", "kgroups", "reset-offsets", "-b", served.bootstrap, "--from-file", "-"]
    root = str(Path(__file__).parents[3])
    with (tmp_path / "plan.csv").open("rb") as file:
        ran = subprocess.run(
            command, stdin=file, env={**os.environ, "PYTHONPATH": root}, capture_output=True, check=False
        )
    assert ran.returncode == 0 and ran.stdout.decode() == rows_of_file


def test_execute_without_terminal_requires_yes(ask: Run, served: Any) -> None:
    code, _, err = ask("reset-offsets", "a", "--all-topics", "--to-latest", "--execute")
    assert code == 2 and "standard input is not a terminal; add --yes" in err
    assert not served.fake.requests


@pytest.mark.parametrize(("said", "code", "result"), [("n", 1, 50), ("y", 0, Commit(0, 100))])
def test_execute_on_terminal_asks_for_confirmation(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, said: str, code: int, result: object
) -> None:
    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: said)
    found, out, err = ask("reset-offsets", "a", "--topic", "t:0", "--to-latest", "--execute")
    assert found == code
    assert "OLD-OFFSET" in err, "the plan is shown before the prompt"
    assert ("nothing was changed" in err) == (said == "n")
    assert bool(out) == (said == "y")
    assert commits(served, "a")["t", 0] == result


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["a", "--all-topics"], "no target offset: use one of --to-earliest, --to-latest"),
        (
            ["a", "--all-topics", "--to-earliest", "--to-offset", "0"],
            "--to-earliest and --to-offset are mutually exclusive",
        ),
        (["a", "--to-latest"], "no partitions selected: use --topic"),
        (["--all-topics", "--to-latest"], "no groups selected"),
        (["a", "--all-topics", "--topic", "t", "--to-latest"], "--topic and --all-topics are mutually exclusive"),
        (["a", "--topic", "t:x", "--to-latest"], "'x' in 't:x' is not a partition number"),
        (["a", "--topic", "nope", "--to-latest"], "topic 'nope' does not exist"),
        (["a", "--topic", "t:0-9", "--to-latest"], "topic 't' has no partition 2"),
        (["a", "--all-topics", "--to-offset", "-1"], "-1 is not in the range"),
        (["a", "--all-topics", "--to-datetime", "2999-01-01T00:00"], "2999-01-01T00:00 is in the future"),
        (["a", "--all-topics", "--to-datetime", "soon"], "--to-datetime: 'soon' is not a time"),
        (["a", "--all-topics", "--by-duration", "1"], "--by-duration: '1' is not a duration"),
        (["a", "--all-topics", "--to-group", ""], "--to-group: a group name must not be empty"),
        (["a", "--to-group", "nobody"], "--to-group: group 'nobody' has no commits"),
        (["a", "--from-file", "missing.csv"], "missing.csv: No such file"),
        (["a", "--from-file", "."], ".: Is a directory"),
        (["a", "--from-file", "bad.csv"], "bad.csv, line 2: '-3' is not a valid offset (it is negative)"),
        (["a", "--from-file", "latin.csv"], "latin.csv, line 1: not UTF-8"),
        (["--from-file", "three.csv"], "three.csv names no group (three columns): use exactly one --group"),
        (["a", "b", "--from-file", "three.csv"], "use exactly one --group"),
        (["a", "--from-file", "four.csv"], "four.csv has no entries for group 'a'"),
        (["--regex", "x.*", "--from-file", "four.csv"], "no group of four.csv is selected"),
        (["--from-file", "unknown.csv"], "unknown.csv, line 2: topic 't' has no partition 7"),
        (
            ["a", "--all-topics", "--to-latest", "--dry-run", "--execute"],
            "--dry-run and --execute are mutually exclusive",
        ),
        (
            ["a", "--all-topics", "--to-latest", "--export", "--execute", "--yes"],
            "--export and --execute are mutually exclusive",
        ),
        (["a", "--all-topics", "--to-latest", "--export", "-o", "table"], "--export writes csv or json"),
        (
            ["a", "--all-topics", "--to-latest", "--execute", "--yes", "--undo-file", "bad.csv"],
            "bad.csv already exists and is never overwritten; choose another name",
        ),
        (
            ["a", "--all-topics", "--to-latest", "--execute", "--yes", "--undo-file", "no/where"],
            "cannot write no/where",
        ),
        (
            ["a", "--all-topics", "--to-latest", "--execute", "--yes", "--undo-file", "x" * 300],
            "--undo-file: cannot write xxx",
        ),
        (["a", "--all-topics", "--to-latest", "--columns", "nope"], "nope"),
    ],
)
def test_reset_invalid_arguments_are_one_line_and_write_nothing(
    ask: Run, served: Any, tmp_path: Path, words: list[str], reason: str
) -> None:
    (tmp_path / "bad.csv").write_text("t,0,5\nt,1,-3\n")
    (tmp_path / "latin.csv").write_bytes(b"\xe9,0,5\n")
    (tmp_path / "three.csv").write_text("t,0,5\n")
    (tmp_path / "four.csv").write_text("b,t,0,5\n")
    (tmp_path / "unknown.csv").write_text("b,t,0,5\nb,t,7,5\n")
    code, out, err = ask("reset-offsets", *words)
    assert (code, out) == (2, ""), err
    assert reason in err and len(err.splitlines()) == 1
    assert not written(served)


def test_plan_file_over_the_size_limit_is_rejected_unread(ask: Run, tmp_path: Path) -> None:
    with (tmp_path / "huge.csv").open("wb") as file:
        os.truncate(file.fileno(), LARGEST + 1)
    code, _, err = ask("reset-offsets", "a", "--from-file", "huge.csv")
    assert code == 2 and "larger than 1,024 MiB" in err


def test_plan_file_without_size_is_read_up_to_the_limit(
    ask: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgroups.cli.change.plan_source.LARGEST", 2 * 1024**2)
    code, _, err = ask("reset-offsets", "a", "--from-file", "/dev/zero")
    assert code == 2 and "larger than 2 MiB" in err


def test_undo_file_over_64_mib_is_read_back(tmp_path: Path) -> None:
    items = (json.dumps({"group": "g", "topic": "t", "partition": n, "offset": n}) for n in range(3))
    undo = tmp_path / "undo.json"
    undo.write_text('{"schema": "kgroups/undo/v1", "items": [\n' + ",\n".join(items) + " " * 65 * 1024**2 + "\n]}\n")
    assert len(read_plan(undo).rows) == 3


def test_undo_file_too_large_to_read_back_stops_the_reset(
    ask: Run, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgroups.cli.change.undo_file.LARGEST", 50)
    code, _, err = ask("reset-offsets", "a", "--all-topics", "--to-latest", "--execute", "--yes")
    assert code == 2 and "--undo-file: larger than" in err
    assert not written(served) and not list(tmp_path.iterdir())


def test_plan_file_groups_not_selected_are_noted(ask: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("a,t,0,60\nb,t,0,70\n")
    code, out, err = ask("reset-offsets", "b", "--from-file", "plan.csv")
    assert (code, [row[:5] for row in rows(out)[1:]]) == (0, [["b", "t", "0", "5", "70"]])
    assert "1 group of plan.csv skipped: not selected" in err


def test_plan_file_errors_of_groups_not_selected_are_ignored(ask: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("a,gone,0,60\na,t,0,1\na,t,0,2\nb,t,0,70\n")
    code, out, err = ask("reset-offsets", "b", "--from-file", "plan.csv")
    assert (code, [row[:5] for row in rows(out)[1:]]) == (0, [["b", "t", "0", "5", "70"]]), err
    assert ask("reset-offsets", "--regex", "b.*", "b", "--from-file", "plan.csv")[:2] == (code, out)
    assert ask("reset-offsets", "--all-groups", "--from-file", "plan.csv")[0] == 2


def test_export_is_read_again_as_the_same_plan(ask: Run, tmp_path: Path) -> None:
    code, three, _ = ask("reset-offsets", "a", "--all-topics", "--shift-by", "3", "--export")
    assert (code, three) == (0, "t,0,53\nt,1,54\n")
    _, four, _ = ask("reset-offsets", "a", "b", "--all-topics", "--shift-by", "3", "--export")
    assert four == "a,t,0,53\na,t,1,54\nb,t,0,10\n"
    _, plan, _ = ask("reset-offsets", "a", "b", "--all-topics", "--shift-by", "3", "--export", "-o", "json")
    for name, text, group in (("3", three, ["a"]), ("4", four, []), ("json", plan, [])):
        (tmp_path / name).write_text(text)
        _, again, _ = ask("reset-offsets", *group, "--from-file", name, "--export", "-o", "csv")
        assert again == (three if group else four), name


def test_csv_export_notes_removed_offsets(ask: Run, tmp_path: Path) -> None:
    item = {"group": "a", "topic": "t", "partition": 0, "offset": None}
    (tmp_path / "undo.json").write_text(json.dumps({"schema": "kgroups/undo/v1", "items": [item]}))
    code, out, err = ask("reset-offsets", "--from-file", "undo.json", "--export")
    assert (code, out) == (0, "") and "1 offset is removed, which CSV cannot express" in err


def test_delete_refuses_active_group_and_can_be_undone(ask: Run, served: Any, tmp_path: Path) -> None:
    code, out, err = ask("delete", "a", "busy")
    assert rows(out) == [["GROUP", "STATE", "#COMMITS"], ["a", "Empty", "2"]]
    assert code == 1 and "group 'busy': the group has active members" in err and not written(served)
    code, out, err = ask("delete", "a", "--execute", "--yes")
    assert rows(out) == [["GROUP", "STATE", "#COMMITS", "RESULT"], ["a", "Empty", "2", "applied"]]
    assert code == 0 and "a" not in served.state.groups
    (undo,) = tmp_path.iterdir()
    assert ask("reset-offsets", "--from-file", undo.name, "--execute", "--yes", "--undo-file", "x")[0] == 0
    assert commits(served, "a") == {("t", 0): Commit(0, 50, 4), ("t", 1): Commit(1, 51, 3, "noted")}


def test_delete_empty_for_suggests_history_stale(ask: Run) -> None:
    code, _, err = ask("delete", "--all-groups", "--empty-for", "2h")
    assert code == 2 and "kgroups history stale" in err


def test_delete_offsets_plans_and_deletes(ask: Run, served: Any) -> None:
    code, out, _ = ask("delete-offsets", "--all-groups", "--topic", "t:0")
    assert [row[0] for row in rows(out)[1:]] == ["a", "b"] and code == 1
    code, out, err = ask("delete-offsets", "a", "b", "--topic", "t:0", "--execute", "--yes")
    assert code == 0, err
    assert [row[3:] for row in rows(out)] == [["CURRENT-OFFSET", "RESULT"], ["50", "applied"], ["5", "applied"]]
    assert commits(served, "a").keys() == {("t", 1)}
    assert ask("delete-offsets", "a")[0] == 2
    code, out, err = ask("delete-offsets", "a", "--topic", "t:0-9", "--execute", "--yes")
    assert (code, out) == (2, "") and "topic 't' has no partition 2" in err
    served.state.fail("Metadata", "bad topic", ErrorCode.invalid_topic_exception)
    code, _, err = ask("delete-offsets", "a", "--topic", "bad topic", "--execute", "--yes")
    assert code == 1 and "topic 'bad topic'" in err and "INVALID_TOPIC_EXCEPTION" in err
    assert commits(served, "a").keys() == {("t", 1)}


def test_remove_members_by_id_and_option_conflicts(ask: Run, served: Any) -> None:
    code, out, err = ask("remove-members", "busy", "--member", "m", "--execute", "--yes")
    assert code == 0, err
    assert rows(out)[1] == ["busy", "m", "/127.0.0.1", "client", "1", "applied"]
    assert served.state.groups["busy"].members == ()
    assert ask("remove-members", "busy")[0] == 2
    assert ask("remove-members", "busy", "--all-members", "--member", "m")[0] == 2


def test_reset_without_matching_commits_has_nothing_to_do(ask: Run, served: Any) -> None:
    served.state.groups["a"].commits.clear()
    code, _, err = ask("reset-offsets", "a", "--all-topics", "--to-latest", "--execute", "--yes")
    assert (
        code == 0 and "nothing to do" in err and "group 'a' has no committed offsets on the selected partitions" in err
    )


def test_killed_reset_leaves_a_complete_undo_file(served: Any, tmp_path: Path) -> None:
    """One broker has written its group, the other never responds."""
    served.fake.brokers[1].fault("OffsetCommit", silence)
    command = [sys.executable, "-m", "kgroups", "reset-offsets", "-b", served.bootstrap, "a", "b", "--all-topics"]
    root = str(Path(__file__).parents[3])
    process = subprocess.Popen(
        [*command, "--to-latest", "--execute", "--yes"], env={**os.environ, "PYTHONPATH": root}, cwd=tmp_path
    )
    until = time.monotonic() + 60
    while written(served).count("OffsetCommit") < 2:
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert commits(served, "a") == {("t", 0): Commit(0, 100), ("t", 1): Commit(1, 100)}
    (undo,) = tmp_path.glob("*.json")
    plan = parse_plan(undo.read_text(), undo.name)
    assert plan.exact and {(row.group, row.partition, row.move) for row in plan.rows} == {
        ("a", 0, Commit(0, 50, 4)),
        ("a", 1, Commit(1, 51, 3, "noted")),
        ("b", 0, Commit(0, 5, 4)),
    }


@pytest.mark.parametrize(
    ("words", "kept"),
    [(("delete", "a", "b"), "b"), (("reset-offsets", "a", "b", "--all-topics", "--to-latest"), "b")],
)
def test_group_changed_during_confirmation_is_not_written(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], kept: str
) -> None:
    def joins_and_says_yes(prompt: str) -> str:
        served.state.groups[kept].members, served.state.groups[kept].state = (MEMBER,), "Stable"
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", joins_and_says_yes)
    before = commits(served, kept)
    code, out, err = ask(*words, "--execute", "-o", "json")
    assert code == 1 and f"group '{kept}': the group has active members (state Stable)" in err
    results = {row["group"]: (row["result"], row["error"]) for row in json.loads(out)["items"]}
    assert results["a"] == ("applied", None)
    assert results[kept][0] == "failed" and "(state Stable)" in results[kept][1]
    assert commits(served, kept) == before


def test_forced_deletion_saves_offsets_on_partitions_that_were_not_planned(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many groups, only the first are checked again before the undo file is written."""
    names = [f"many-{number:03}" for number in range(FIRST_GROUPS + 1)]
    for name in names:
        served.state.group(name, 0, commits={("t", 0): 50})
    served.state.topic("late", [0], start=0, end=100)

    def commits_and_says_yes(prompt: str) -> str:
        served.state.groups[names[-1]].commits |= {("t", 1): Commit(1, 51, 3, "late"), ("late", 0): Commit(0, 7)}
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", commits_and_says_yes)
    code, _, err = ask("delete", *names, "--force", "--execute", "--undo-file", "undo.json")
    assert code == 0 and not {*names} & {*served.state.groups}, err
    added = [line for line in Path("undo.json").read_text().splitlines() if '"topic": "late"' in line]
    assert [json.loads(line)["topic_id"] for line in added] == [topic_id_text(served.state.topics["late"].topic_id)]
    served.state.topics["late"].topic_id += 1
    refused = "offset 7 is not restored: the topic was deleted and recreated"
    undo = ("undo", "undo.json", "--execute", "--yes", "--undo-file")
    code, _, err = ask(*undo, "redo.json")
    assert code == 1 and refused in err and names[-1] not in served.state.groups
    code, _, err = ask(*undo, "partly.json", "--partial")
    assert code == 1 and refused in err
    assert commits(served, names[-1])["t", 1] == Commit(1, 51, 3, "late")
    assert ("late", 0) not in commits(served, names[-1])


@pytest.mark.parametrize("words", [("delete",), ("reset-offsets", "--all-topics", "--to-latest")])
def test_old_offset_that_cannot_be_saved_is_not_changed(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """The disk is full when another old offset is found than the undo file has."""
    names = [f"many-{number:03}" for number in range(FIRST_GROUPS + 1)]
    for name in names:
        served.state.group(name, 0, commits={("t", 0): 50})

    def commits_and_says_yes(prompt: str) -> str:
        served.state.groups[names[-1]].commits["t", 0] = Commit(0, 51)
        return "y"

    def write(file: Any, data: bytes) -> None:
        if b'"amended"' in data:
            raise OSError(errno.ENOSPC, "No space left on device")
        file.write(data)

    monkeypatch.setattr("kgroups.cli.change.undo_file._write_whole", write)
    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", commits_and_says_yes)
    code, out, err = ask(words[0], *names, *words[1:], "--force", "--execute", "--undo-file", "undo.json", "-o", "json")
    assert code == 1 and "cannot append old offsets to undo.json" in err
    assert json.loads(out)["items"][-1]["result"] == "failed"
    assert commits(served, names[-1]) == {("t", 0): Commit(0, 51)}


def test_member_that_rejoined_or_left_during_confirmation_is_kept(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LeaveGroup names a static member by its instance ID: without a recheck the new member would be removed."""
    group = served.state.groups["busy"]
    back, stays = FakeMember("m-back", instance_id="i-1"), FakeMember("m-stays", instance_id="i-2")
    group.members = (FakeMember("m-dead", instance_id="i-1"), stays, FakeMember("m-went"))

    def restarts_and_says_yes(prompt: str) -> str:
        group.members = (back, stays)
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", restarts_and_says_yes)
    code, out, err = ask("remove-members", "busy", "--all-members", "--execute", "-o", "json")
    assert code == 1 and group.members == (back,)
    assert "member 'i-1' rejoined after the plan was made, as 'm-back'" in err
    assert [(row["consumer_id"], row["result"], row["error"]) for row in json.loads(out)["items"]] == [
        (
            "m-dead",
            "failed",
            "member 'i-1' rejoined after the plan was made, as 'm-back': not removed; run the command again",
        ),
        ("m-stays", "applied", None),
        ("m-went", "failed", "member 'm-went' left the group after the plan was made"),
    ]


def test_members_of_group_that_cannot_be_rechecked_are_kept(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks_and_says_yes(prompt: str) -> str:
        served.state.fail("DescribeGroups", "busy", ErrorCode.group_authorization_failed)
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", breaks_and_says_yes)
    code, out, _ = ask("remove-members", "busy", "--all-members", "--execute", "-o", "json")
    assert code == 1 and served.state.groups["busy"].members == (MEMBER,) and not written(served)
    assert [row["result"] for row in json.loads(out)["items"]] == ["failed"]


@pytest.mark.parametrize(
    ("words", "meanwhile"),
    [
        (("delete", "a", "b"), {("t", 0): Commit(0, 6, 4)}),
        (("delete", "a", "b"), {("t", 0): 5, ("u", 0): 1}),
        (("delete", "a", "b"), {}),
        (("reset-offsets", "a", "b", "--all-topics", "--to-latest"), {("t", 0): Commit(0, 6, 4)}),
    ],
)
def test_offsets_committed_during_confirmation_are_kept(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], meanwhile: dict[Any, Any]
) -> None:
    def commits_and_says_yes(prompt: str) -> str:
        served.state.groups["b"].commits = dict(meanwhile)
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", commits_and_says_yes)
    code, out, err = ask(*words, "--execute", "-o", "json")
    assert code == 1 and "group 'b': its offsets have changed since the plan was made" in err
    results = {row["group"]: (row["result"], row["error"]) for row in json.loads(out)["items"]}
    assert results["a"] == ("applied", None)
    assert results["b"][0] == "failed" and "have changed since the plan was made" in results["b"][1]
    assert commits(served, "b") == meanwhile


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("plan_reset", ("reset-offsets", "a", "b", "--all-topics", "--to-latest")),
        ("plan_delete_offsets", ("delete-offsets", "a", "b", "--topic", "t")),
        ("plan_delete", ("delete", "a", "b")),
    ],
)
def test_plan_is_rechecked_without_confirmation(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, plan: str, words: tuple[str, ...]
) -> None:
    make = pkgutil.resolve_name(PLANS[plan])
    made: list[Any] = []

    async def slowly(*asked: Any) -> Any:
        made.append(await make(*asked))
        if len(made) == 1:
            served.state.groups["b"].commits["t", 0] = Commit(0, 6, 4)
        return made[-1]

    monkeypatch.setattr(PLANS[plan], slowly)
    code, out, err = ask(*words, "--execute", "--yes", "--undo-file", "undo.json", "-o", "json")
    assert code == 1 and "group 'b': its offsets have changed since the plan was made" in err
    assert {row["group"]: row["result"] for row in json.loads(out)["items"]} == {"a": "applied", "b": "failed"}
    assert commits(served, "b") == {("t", 0): Commit(0, 6, 4)}
    assert {row.group for row in parse_plan((tmp_path / "undo.json").read_text(), "undo.json").rows} == {"a"}


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("write_in_chunks.apply_offsets", ("reset-offsets", "a", "b", "--all-topics", "--to-latest")),
        ("write_in_chunks.apply_offsets", ("delete-offsets", "a", "b", "--topic", "t")),
        ("delete_in_chunks.delete_groups", ("delete", "a", "b")),
    ],
)
def test_each_batch_is_rechecked_right_before_it_is_written(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, act: str, words: tuple[str, ...]
) -> None:
    """Many groups take several requests: changes during the first ones are detected."""
    write = pkgutil.resolve_name(f"kgroups.admin.change.apply.{act}")

    async def first_part(*asked: Any, **rest: Any) -> Any:
        done = await write(*asked, **rest)
        served.state.groups["b"].commits["t", 0] = Commit(0, 77, 4)
        return done

    monkeypatch.setattr(f"kgroups.admin.change.apply.{act}", first_part)
    monkeypatch.setattr("kgroups.admin.change.apply.write_in_chunks.FIRST_GROUPS", 1)
    monkeypatch.setattr("kgroups.admin.change.apply.write_in_chunks.GROUPS_AT_ONCE", 1)
    monkeypatch.setattr("kgroups.admin.change.apply.delete_in_chunks.FIRST_GROUPS", 1)
    monkeypatch.setattr("kgroups.admin.change.apply.delete_in_chunks.GROUPS_AT_ONCE", 1)
    code, out, err = ask(*words, "--execute", "--yes", "--undo-file", "undo.json", "-o", "json")
    assert code == 1 and "group 'b': its offsets have changed since the plan was made" in err
    assert {row["group"]: row["result"] for row in json.loads(out)["items"]} == {"a": "applied", "b": "failed"}
    assert commits(served, "b") == {("t", 0): Commit(0, 77, 4)}
    undo = parse_plan((tmp_path / "undo.json").read_text(), "undo.json")
    assert {row.group for row in undo.rows} == {"a", "b"}, "on the disk before the first change"


def test_member_that_rejoined_between_removals_is_kept(ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = served.state.groups["busy"]
    busy.members = (FakeMember("m-1"), FakeMember("m-2", instance_id="i-2"))
    back = FakeMember("m-back", instance_id="i-2")
    remove = remove_members.remove_members

    async def first_part(*asked: Any) -> Any:
        done = await remove(*asked)
        busy.members = (back,)
        return done

    monkeypatch.setattr(remove_members, "remove_members", first_part)
    monkeypatch.setattr("kgroups.cli.remove_members.MEMBERS_AT_ONCE", 1)
    code, out, err = ask("remove-members", "busy", "--all-members", "--execute", "--yes", "-o", "json")
    assert code == 1 and busy.members == (back,) and "rejoined after the plan was made" in err
    assert [row["result"] for row in json.loads(out)["items"]] == ["applied", "failed"]


def test_group_that_cannot_be_rechecked_is_not_written(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def fails(*_: Any, **__: Any) -> Any:
        raise ClusterUnreachable("nobody answers")

    monkeypatch.setattr(apply_offsets, "revalidate_offsets", fails)
    code, out, err = ask("reset-offsets", "a", "b", "--all-topics", "--to-latest", "--execute", "--yes")
    assert code == 1 and not written(served) and not list(tmp_path.glob("*.json"))
    assert [row[-1] for row in rows(out)[1:]] and "2 groups: not changed: the check before the change failed" in err


def _of_group(served: Any, *pairs: tuple[str, int]) -> None:
    """The records of group 'a' in __consumer_offsets, and a topic 'payroll' that a DENY hides; others may be seen."""
    log = [
        batch(offset, [(offset, 1_000 + offset)], key=commit_key("a", *pair), value=commit_value())
        for offset, pair in enumerate((*pairs, ("gone", 0)))
    ]
    log.append(batch(len(log), [(len(log), 2_000)], key=commit_key("a", "gone", 0), value=None))
    served.state.topic("__consumer_offsets", [0], end=len(log), logs={0: log}, times={0: 1_000})
    served.state.topic("payroll", [0])
    served.state.fail("Metadata", "payroll", ErrorCode.topic_authorization_failed)


def test_delete_with_offsets_hidden_by_acls_is_refused(ask: Run, served: Any) -> None:
    words = ("delete", "a", "--execute", "--yes", "-o", "json")
    _of_group(served, ("t", 0), ("t", 1), ("payroll", 0))
    for more in (("--dry-run",), ("--execute", "--yes")):
        code, out, err = ask("delete", "a", *more, "-o", "json")
        assert code == 1 and not json.loads(out)["items"] and "a" in served.state.groups
        assert "1 committed offset on topics without permission DESCRIBE would be deleted" in err
        assert "payroll-0; grant DESCRIBE on the topics, or add --including-hidden-offsets" in err
    served.state.fail("Fetch", "__consumer_offsets-0", ErrorCode.topic_authorization_failed)
    code, _, err = ask(*words)
    assert code == 1 and "a" in served.state.groups
    assert "may be hidden, and would be deleted without being in an undo file (reading __consumer_offsets" in err
    assert "): payroll; grant DESCRIBE on the topics, or add --including-hidden-offsets" in err
    assert ask(*words, "--including-hidden-offsets")[0] == 0 and "a" not in served.state.groups


def test_delete_with_all_records_visible_is_allowed(ask: Run, served: Any) -> None:
    _of_group(served, ("t", 0), ("t", 1))
    assert ask("delete", "a", "--execute", "--yes")[0] == 0 and "a" not in served.state.groups


@pytest.mark.parametrize("release", ["2.5.1", "2.8.2", "4.3.1"])
def test_delete_without_cluster_describe_cannot_exclude_hidden_offsets(ask: Run, served: Any, release: str) -> None:
    """Before Kafka 3.2, brokers return no log directories then, and no error."""
    for broker in served.fake.brokers.values():
        broker.ranges = {**broker.ranges, DESCRIBE_LOG_DIRS: KAFKA[release][DESCRIBE_LOG_DIRS]}
    served.state.fail("DescribeLogDirs", "0", ErrorCode.cluster_authorization_failed)
    _of_group(served, ("t", 0), ("t", 1))
    served.state.fail("Fetch", "__consumer_offsets-0", ErrorCode.topic_authorization_failed)
    words = ("delete", "a", "--execute", "--yes", "-o", "json")
    code, _, err = ask(*words)
    assert code == 1 and "a" in served.state.groups
    assert "committed offsets may be hidden, and would be deleted without being in an undo file" in err
    assert "(needs DESCRIBE on CLUSTER; reading __consumer_offsets needs the ACL READ on it)" in err
    assert ask(*words, "--including-hidden-offsets")[0] == 0 and "a" not in served.state.groups


def test_delete_with_failing_log_dirs_uses_the_records(ask: Run, served: Any) -> None:
    served.state.fail("DescribeLogDirs", "0", ErrorCode.kafka_storage_error)
    _of_group(served, ("t", 0), ("t", 1))
    assert ask("delete", "a", "--execute", "--yes")[0] == 0 and "a" not in served.state.groups


def test_delete_with_describe_on_every_topic_reads_no_records(ask: Run, served: Any) -> None:
    assert ask("delete", "a")[0] == 0
    assert "Fetch" not in {request.api for request in served.fake.requests}


PLANS = {
    "plan_reset": "kgroups.cli.change.reset.plan_reset",
    "plan_delete": "kgroups.cli.delete.plan_delete",
    "plan_delete_offsets": "kgroups.cli.delete_offsets.plan_delete_offsets",
}


def _leaves(served: Any, monkeypatch: pytest.MonkeyPatch, plan: str, rounds: list[tuple[Any, ...]]) -> None:
    """Before each plan the group 'busy' gets the next members of these."""
    make = pkgutil.resolve_name(PLANS[plan])

    async def planned(*asked: Any) -> Any:
        if rounds:
            busy = served.state.groups["busy"]
            busy.members = rounds.pop(0)
            busy.state = "Stable" if busy.members else "Empty"
        return await make(*asked)

    monkeypatch.setattr(PLANS[plan], planned)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("plan_reset", ("reset-offsets", "busy", "a", "--all-topics", "--to-latest")),
        ("plan_delete", ("delete", "busy", "a")),
        ("plan_delete_offsets", ("delete-offsets", "busy", "a", "--topic", "t")),
    ],
)
def test_when_empty_starts_as_soon_as_members_have_left(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, plan: str, words: tuple[str, ...]
) -> None:
    _leaves(served, monkeypatch, plan, [(MEMBER,), (MEMBER,), ()])
    code, out, err = ask(*words, "--when-empty", "30s", "--timeout", "5s", "--execute", "--yes", "-o", "json")
    assert code == 0, err
    assert {row["result"] for row in json.loads(out)["items"]} == {"applied"}
    assert "kgroups: note: waiting for up to 30 s until the members have left" in err


def test_when_empty_writes_nothing_if_members_stay_or_return(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ("reset-offsets", "busy", "a", "--all-topics", "--to-latest", "--execute", "--yes", "-o", "json")
    code, out, err = ask(*words, "--when-empty", "300ms")
    assert code == 1 and not json.loads(out)["items"] and not written(served) and not list(tmp_path.iterdir())
    assert "the members did not leave within 0.3 s; no group was changed" in err
    assert "group 'busy': the group has active members (state Stable)" in err and "nothing to do" not in err
    revalidate = revalidate_offsets

    async def returns(*asked: Any, **rest: Any) -> Any:
        served.state.groups["busy"].members, served.state.groups["busy"].state = (MEMBER,), "Stable"
        return await revalidate(*asked, **rest)

    monkeypatch.setattr(apply_offsets, "revalidate_offsets", returns)
    _leaves(served, monkeypatch, "plan_reset", [(MEMBER,), ()])
    code, out, err = ask(*words, "--when-empty", "30s", "--undo-file", "undo")
    assert code == 1 and "group 'busy': the group has active members" in err
    assert {row["group"]: row["result"] for row in json.loads(out)["items"]} == {"busy": "failed", "a": "failed"}
    assert not written(served) and not list(tmp_path.iterdir())
    assert "group 'a': not changed: the members of another group have returned" in err


def test_when_empty_requires_execute_and_yes(ask: Run, served: Any) -> None:
    for more in ((), ("--execute",)):
        assert ask("delete", "a", "--when-empty", "5s", *more)[0] == 2 and not served.fake.requests
    assert "requires --execute --yes" in ask("delete", "a", "--when-empty", "5s")[2]


def test_reset_names_groups_that_are_still_committed_for(ask: Run, served: Any) -> None:
    now = time.time_ns() // 1_000_000
    times = {offset: now - 3_000 + 1_000 * offset for offset in range(3)}
    log = [
        batch(offset, [(offset, at)], key=commit_key("a", "t", 0), value=commit_value(offset=offset))
        for offset, at in times.items()
    ]
    served.state.topic("__consumer_offsets", [0], end=3, logs={0: log}, times=times)
    found = json.loads(ask("explain", "a", "b", "-o", "json")[1])["items"]
    rules = {
        item["group"]: [each["text"] for each in item["findings"] if each["rule"] == "not-stopped"] for item in found
    }
    assert rules["b"] == [] and "3 commits of t-0, at most 1.0 s apart, the last" in rules["a"][0]
    code, _, err = ask("reset-offsets", "a", "b", "--all-topics", "--to-latest", "-o", "json")
    assert code == 0 and "group 'a': not by a member: 3 commits of t-0" in err


@pytest.mark.parametrize("more", [(), ("--force", "--execute", "--yes")])
def test_many_groups_that_are_still_committed_for_are_one_note(ask: Run, served: Any, more: tuple[str, ...]) -> None:
    names = [f"many-{number}" for number in range(5)]
    now = time.time_ns() // 1_000_000
    log = []
    for number, name in enumerate(names):
        served.state.group(name, 0, commits={("t", 0): 2})
        for offset in range(3):
            key, value = commit_key(name, "t", 0), commit_value(offset=offset)
            at = 3 * number + offset
            log.append(batch(at, [(at, now - 3_000 + 1_000 * offset)], key=key, value=value))
    times = dict.fromkeys(range(len(log)), now - 3000)
    served.state.topic("__consumer_offsets", [0], end=len(log), logs={0: log}, times=times)
    code, _, err = ask("reset-offsets", *names, "--all-topics", "--to-latest", *more)
    (note,) = [line for line in err.splitlines() if "not by a member" in line]
    assert code == 0 and note.startswith("kgroups: note: 5 groups: not by a member: group 'many-0': 3 commits of t-0,")
    assert "group 'many-2': 3 commits" in note and ", … and 2 more; " in note
    assert note.endswith("; changed anyway (--force)" if more else "; --execute checks whether the commits continue")


def test_check_stopped_reports_groups_that_are_still_committed_for(ask: Run, served: Any) -> None:
    now = time.time_ns() // 1_000_000
    times = {offset: now - 300 + 100 * offset for offset in range(3)}
    log = [
        batch(offset, [(offset, at)], key=commit_key("a", "t", 0), value=commit_value(offset=offset))
        for offset, at in times.items()
    ]
    topic = served.state.topic("__consumer_offsets", [0], end=3, logs={0: log}, times=times)

    def checked(*groups: str) -> tuple[int, dict[str, tuple[str, str]]]:
        code, out, _ = ask("check", *groups, "--stopped", "-o", "json")
        found = json.loads(out)["items"]
        return code, {each["group"]: (each["status"], each["message"]) for each in found if each["check"] == "stopped"}

    assert checked("a", "b")[0] == 0, "several resets in a row: no next commit came"
    fetch = recent_commits

    async def goes_on(cluster: Any, groups: Any, since: int, **known: Any) -> Any:
        found = await fetch(cluster, groups, since, **known)
        at = time.time_ns() // 1_000_000
        topic.logs[0] = [
            *topic.logs[0],
            batch(topic.end, [(topic.end, at)], key=commit_key("a", "t", 0), value=commit_value(offset=50)),
        ]
        topic.times[topic.end] = at  # type: ignore[index]
        topic.end += 1
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(still_committing, "recent_commits", goes_on)
        code, found = checked("a", "b", "busy")
    assert code == 2
    assert found["b"] == ("OK", "no members, and no other client commits")
    assert found["busy"] == ("CRITICAL", "Stable; no members are expected")
    assert found["a"][0] == "CRITICAL"
    assert found["a"][1].startswith(
        "no members, but a client that is not a member still commits: the offset of t-0 changed from"
    )
    served.state.fail("Metadata", "__consumer_offsets", ErrorCode.topic_authorization_failed)
    code, found = checked("b")
    assert (code, found["b"][0]) == (3, "UNKNOWN") and "needs the ACL READ" in found["b"][1]


def test_reset_export_reports_adjusted_offsets(ask: Run) -> None:
    code, out, err = ask("reset-offsets", "a", "--topic", "t:0", "--to-offset", "999999", "--export")
    assert (code, out[:4]) == (0, "t,0,")
    end = out.strip().rpartition(",")[2]
    reason = f"requested offset 999999 is beyond log end, the plan has {end}"
    assert f"note: 1 offset adjusted, beyond log end: t-0 of group 'a': {reason}" in err


def test_remove_members_names_empty_groups_and_ids_of_no_group(ask: Run) -> None:
    code, out, _ = ask("remove-members", "a", "busy", "--all-members", "-o", "json")
    assert code == 0 and json.loads(out)["notices"][0] == "no members: a"
    assert "no members: a" in ask("remove-members", "a", "--all-members")[2]
    code, out, _ = ask("remove-members", "a", "b", "--member", "x", "-o", "json")
    (failure,) = json.loads(out)["failures"]
    assert code == 1 and (failure["scope"], failure["name"]) == ("cluster", "")
    assert failure["message"] == "no member with the id 'x'"


def test_plan_file_without_the_selected_partitions_is_an_error(ask: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("a,t,0,20\nb,t,1,20\n")
    code, out, err = ask("reset-offsets", "a", "--from-file", "plan.csv", "--topic", "t:1")
    assert (code, out) == (2, "") and "plan.csv has no entries for group 'a' on the selected partitions" in err
    code, out, err = ask("reset-offsets", "--from-file", "plan.csv", "--topic", "t:1")
    assert code == 0 and [row[0] for row in rows(out)[1:]] == ["b"] and "no committed" not in err


@pytest.mark.parametrize("change", ["grown", "gone", "share"])
def test_change_of_topic_or_group_while_the_prompt_is_open_is_named(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def prompt(text: str) -> str:
        if change == "grown":
            served.state.topic("t", [0, 1, 0], start=10, end=100)
        else:
            del served.state.groups["a"]
        if change == "share":
            served.state.group("a", 0, type="Share", protocol_type="share").commits.update({("t", 0): 50})
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", prompt)
    code, _, err = ask("reset-offsets", "a", "--topic", "t", "--to-latest", "--execute")
    reason = {
        "grown": "topic t has 3 partitions now, and 2 when the plan was made; nothing was written",
        "gone": "the group does not exist any more; nothing was written",
        "share": "it is now a Share group, but a Classic group in the plan; nothing was written",
    }
    assert code == 1 and reason[change] in err
    assert not served.fake.asked("OffsetCommit") and not served.fake.asked("AlterShareGroupOffsets")
