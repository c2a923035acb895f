"""Restore snapshots over fake brokers: what is written, and what is refused."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.offsets import Commit
from tests.fakes.cluster_state import FakeMember
from tests.unit.cli.snapshot.test_save_and_show import FILE, shop

Run = Callable[..., tuple[int, str, str]]
SAVED = {("t", 0): Commit(0, 50, 4), ("t", 1): Commit(1, 51, 3, "noted")}


@pytest.fixture
def served(serve: Callable[..., Any], run_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A cluster whose state was saved, and whose groups have no members since."""
    monkeypatch.chdir(tmp_path)
    served = serve(fill=shop)
    assert run_cli("snapshot", "save", FILE, "--all-groups", "-b", served.bootstrap)[0] == 0
    group = served.state.groups["b"]
    group.state, group.members = "Empty", ()
    return served


@pytest.fixture
def restore(run_cli: Run, served: Any) -> Callable[..., Any]:
    def restored(*words: str) -> tuple[int, list[tuple[Any, ...]], str]:
        code, out, err = run_cli("snapshot", "restore", FILE, *words, "-b", served.bootstrap, "-o", "json")
        items = json.loads(out)["items"] if out else []
        keys = ("group", "topic", "partition", "old_offset", "new_offset", "result")
        return code, [tuple(row[key] for key in keys) for row in items], err

    return restored


def writes(served: Any) -> list[str]:
    changing = {"OffsetCommit", "OffsetDelete", "DeleteGroups", "LeaveGroup"}
    return [request.api for request in served.fake.requests if request.api in changing]


def test_changed_offsets_are_restored_exactly_and_undone(restore: Any, served: Any, run_cli: Run) -> None:
    changed = {("t", 0): Commit(0, 99, 4), ("t", 1): Commit(1, 51, 4, "")}
    served.state.groups["a"].commits = dict(changed)
    code, rows, err = restore()
    plan = [("a", "t", 0, 99, 50, None), ("a", "t", 1, 51, 51, None)]
    assert (code, rows) == (0, plan) and "dry run" in err and not writes(served)
    code, rows, _ = restore("--execute", "--yes", "--undo-file", "undo")
    assert (code, [row[-1] for row in rows]) == (0, ["applied"] * 2)
    assert served.state.groups["a"].commits == SAVED
    assert restore()[:2] == (0, [])
    code, _, err = run_cli("reset-offsets", "--from-file", "undo", "--execute", "--yes", "-b", served.bootstrap)
    assert code == 0, err
    assert served.state.groups["a"].commits == changed


def test_deleted_group_is_created_only_with_the_flag(restore: Any, served: Any) -> None:
    del served.state.groups["a"]
    code, rows, err = restore("a", "--execute", "--yes")
    assert (code, rows) == (1, []) and "to create it, add --create-group" in err
    assert "a" not in served.state.groups and not writes(served)
    code, _, err = restore("a", "--create-group", "--execute", "--yes")
    assert code == 0, err
    assert served.state.groups["a"].commits == SAVED


def test_other_offsets_are_deleted_only_with_exact(restore: Any, served: Any) -> None:
    served.state.groups["a"].commits[("other", 0)] = 1
    code, rows, err = restore("a", "--execute", "--yes")
    assert (code, rows) == (0, []) and "1 committed offset of a not in a.snapshot" in err
    code, rows, _ = restore("a", "--exact", "--topic", "t", "--execute", "--yes")
    assert (code, rows) == (0, [])
    code, rows, _ = restore("a", "--exact", "--execute", "--yes")
    assert (code, rows) == (0, [("a", "other", 0, 1, None, "applied")])
    assert served.state.groups["a"].commits == SAVED


def test_exact_restore_names_offsets_that_were_committed_since_the_plan(
    restore: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = served.state.groups["a"].commits
    commits["t", 0] = 60

    def commits_and_says_yes(prompt: str) -> str:
        commits["other", 0] = 1
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", commits_and_says_yes)
    code, rows, err = restore("a", "--exact", "--execute")
    assert (code, rows) == (1, [("a", "t", 0, 60, 50, "applied")])
    assert "group 'a': not restored exactly: offsets were committed since the plan was made: other-0;" in err


def test_groups_with_members_are_refused_and_the_others_restored(restore: Any, served: Any) -> None:
    served.state.groups["a"].commits[("t", 0)] = 60
    group = served.state.groups["b"]
    group.state, group.members, group.commits[("t", 0)] = "Stable", (FakeMember("m"),), 60
    code, rows, err = restore("--execute", "--yes")
    assert code == 1 and [row[0] for row in rows] == ["a"]
    assert "group 'b': the group has active members" in err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--topic", "other"), [("b", "other", 0)]),
        (("b",), [("b", "other", 0), ("b", "t", 0)]),
        (("[bc]", "--topic", "t:0"), [("b", "t", 0), ("c", "t", 0)]),
        (("--regex", "c|z"), [("c", "t", 0)]),
    ],
)
def test_selection(restore: Any, served: Any, words: tuple[str, ...], expected: list[tuple[str, str, int]]) -> None:
    for group in served.state.groups.values():
        group.commits = dict.fromkeys(group.commits, 1)
    code, rows, _ = restore(*words)
    assert code == 0 and [row[:3] for row in rows] == expected


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("nosuch",), "there is no group 'nosuch' in this snapshot"),
        (("z*",), "no group matches 'z*'"),
        (("--regex", "z"), "no group is selected"),
        (("--topic", "t:x"), "--topic"),
    ],
)
def test_empty_selection_is_an_error(restore: Any, served: Any, words: tuple[str, ...], named: str) -> None:
    code, rows, err = restore(*words, "--execute", "--yes")
    assert (code, rows) == (2, []) and named in err and not writes(served)


def test_other_cluster_is_refused(restore: Any, served: Any) -> None:
    served.state.groups["a"].commits[("t", 0)] = 60
    served.state.cluster_id = "another"
    code, _, err = restore("--execute", "--yes")
    assert code == 2 and "a.snapshot belongs to cluster fake-cluster" in err and not writes(served)
    code, rows, _ = restore("a", "--accept-mismatch", "cluster")
    assert code == 0 and [row[:3] for row in rows] == [("a", "t", 0)]


def test_recreated_topic_is_refused(restore: Any, served: Any) -> None:
    served.state.groups["a"].commits[("t", 0)] = 60
    served.state.groups["b"].commits[("other", 0)] = 3
    served.state.topics["t"].topic_id = 99
    code, rows, err = restore("--execute", "--yes")
    assert code == 1 and [row[:3] for row in rows] == [("b", "other", 0)]
    assert "group 'a': offset 50 is not restored: the topic was deleted and recreated" in err
    code, rows, _ = restore("a", "--accept-mismatch", "topic", "--execute", "--yes")
    assert code == 0 and served.state.groups["a"].commits == SAVED


def test_deleted_topic_is_named(restore: Any, served: Any) -> None:
    served.state.groups["b"].commits[("other", 0)] = 3
    del served.state.topics["other"]
    code, _, err = restore("b")
    assert code == 1 and "group 'b': the topic does not exist any more; not restored" in err


def test_offsets_outside_the_log_are_named(restore: Any, served: Any) -> None:
    served.state.groups["a"].commits = {("t", 0): Commit(0, 90, 4), ("t", 1): Commit(1, 90, 4)}
    served.state.topics["t"].start = 51
    code, out, _ = restore("a")
    assert code == 0 and [row[:5] for row in out] == [("a", "t", 0, 90, 50), ("a", "t", 1, 90, 51)]


def test_configuration_is_named_and_not_restored(restore: Any, served: Any) -> None:
    served.state.settings["c"] = {"consumer.session.timeout.ms": "45000"}
    code, _, err = restore("c")
    expected = "group 'c': consumer.session.timeout.ms is not restored: it is 45000, in the snapshot 50000"
    assert code == 0 and expected in err
    assert f"to restore these settings: kgroups snapshot restore {FILE} --settings" in err


def settings(answer: tuple[int, str, str]) -> list[tuple[Any, ...]]:
    keys = ("group", "key", "old_value", "new_value", "result")
    return [tuple(row[key] for key in keys) for row in json.loads(answer[1])["items"]]


def test_settings_are_restored_and_undone(run_cli: Run, served: Any) -> None:
    timeout, other = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
    served.state.settings[""] = {timeout: "45000", other: "5000"}
    before = served.state.settings["c"] = {timeout: "47000", other: "6000"}
    words = ("snapshot", "restore", FILE, "--settings", "-b", served.bootstrap, "-o", "json")
    code, _, err = answer = run_cli(*words)
    assert (code, settings(answer)) == (0, [("c", timeout, "47000", "50000", None)])
    assert f"group 'c': 1 setting not in {FILE}: not changed; to remove it, add --exact" in err
    assert f"no settings of 2 groups in {FILE}: a, b; a snapshot contains" in err and "add --execute" in err
    code, _, err = answer = run_cli(*words, "c", "--exact", "--execute", "--yes", "--undo-file", "undo")
    assert (code, settings(answer)) == (
        0,
        [("c", other, "6000", "5000", "applied"), ("c", timeout, "47000", "50000", "applied")],
    )
    assert served.state.settings["c"] == {timeout: "50000"} and "kgroups undo undo --execute" in err
    assert settings(run_cli(*words)) == [] and not writes(served)
    undo = ("undo", "undo", "--execute", "--yes", "-b", served.bootstrap)
    assert run_cli(*undo)[0] == 0 and served.state.settings["c"] == before


def test_settings_that_were_not_saved_are_a_failure(run_cli: Run, served: Any) -> None:
    served.state.fail("DescribeConfigs", "c", ErrorCode.group_authorization_failed)
    assert run_cli("snapshot", "save", "partial", "c", "-b", served.bootstrap)[0] == 1
    code, out, err = run_cli("snapshot", "restore", "partial", "--settings", "-b", served.bootstrap, "-o", "json")
    assert (code, json.loads(out)["items"]) == (1, [])
    assert "group 'c': not restored completely: it could not be read when partial was saved" in err


@pytest.mark.parametrize("option", ["--topic=t", "--create-group", "--accept-mismatch=topic", "--force"])
def test_options_about_offsets_are_refused_with_settings(restore: Any, option: str) -> None:
    code, _, err = restore("--settings", option)
    assert code == 2 and "--settings cannot be combined with" in err


def test_settings_of_another_cluster_are_refused(restore: Any, served: Any) -> None:
    served.state.cluster_id = "other"
    code, _, err = restore("--settings")
    assert code == 2 and "but this is cluster other" in err


def test_group_without_offsets_has_nothing_to_restore(run_cli: Run, served: Any) -> None:
    served.state.group("idle", 0)
    assert run_cli("snapshot", "save", "idle.snapshot", "idle", "-b", served.bootstrap)[0] == 0
    code, _, err = run_cli("snapshot", "restore", "idle.snapshot", "-b", served.bootstrap, "--exact")
    assert code == 0 and "no offsets of 1 group to restore: idle" in err


def test_offsets_changed_after_the_plan_are_left_alone(restore: Any, served: Any, monkeypatch: Any) -> None:
    served.state.groups["a"].commits[("t", 0)] = 60
    plan_restore = __import__("kgroups.admin.snapshot.restore", fromlist=["plan_restore"]).plan_restore

    async def planned_too_early(*words: Any) -> Any:
        plan = await plan_restore(*words)
        served.state.groups["a"].commits[("t", 0)] = 70
        return plan

    monkeypatch.setattr("kgroups.cli.snapshot.plan_restore", planned_too_early)
    code, _, err = restore("a", "--execute", "--yes")
    assert code == 1 and "its offsets have changed since the plan was made" in err and not writes(served)


def test_librdkafka_is_refused(restore: Any, served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def over_librdkafka(*_: Any) -> tuple[Any, str]:
        return Mock(cluster=None, close=AsyncMock()), ""

    monkeypatch.setattr("kgroups.cli.frame.run_query.open_client", over_librdkafka)
    code, _, err = restore("--execute", "--yes")
    assert code == 2 and "kgroups only reads over librdkafka" in err and not writes(served)


def test_file_that_decompresses_to_gigabytes_is_refused_without_reading_it_whole(
    restore: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgroups.admin.snapshot.file.LARGEST", 4 * 1024**2)
    for content, reason in (
        (b"\0", "not a snapshot of kgroups"),
        (b'{"schema":', "larger than 4 MiB when decompressed"),
    ):
        (tmp_path / FILE).write_bytes(gzip.compress(content + bytes(64 * 1024**2)))
        tracemalloc.start()
        code, _, err = restore()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert code == 2 and reason in err and peak < 32 * 1024**2, (reason, err, peak)
