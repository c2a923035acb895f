"""Undo files over fake brokers: their target, what they restore, and what they reject."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.routing.backoff import PIPELINE
from kgroups.cli.change import undo_file
from kgroups.cli.frame import progress
from kgroups.dropins import consumer_groups
from kgroups.model.offsets import Commit
from kgroups.model.operations.plan_file import parse_plan
from kgroups.model.outcome import Result
from tests.fakes.broker import FakeCluster, framed, silence
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]
RESET = ("reset-offsets", "a", "--all-topics", "--to-latest")
TIMEOUT = "consumer.session.timeout.ms"


BEYOND = "beyond log end, not adjusted; written without leader epoch 4, which is not of this log"
BOTH_BEYOND = [BEYOND, BEYOND.replace("epoch 4", "epoch 3")]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("t", [0, 1], start=10, end=100, history={1: {3: 10, 4: 51}})
    fake.state.group("a", 0, commits={("t", 0): 50, ("t", 1): Commit(1, 51, 3, "noted")})
    fake.state.group("b", 1, commits={("t", 0): 5})


@pytest.fixture
def served(serve: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return serve(fill=shop)


@pytest.fixture
def ask(run_cli: Run, served: Any) -> Run:
    return lambda command, *words: run_cli(command, "-b", served.bootstrap, *words)


def written(served: Any) -> list[str]:
    changing = {"OffsetCommit", "OffsetDelete", "DeleteGroups", "LeaveGroup"}
    return [request.api for request in served.fake.requests if request.api in changing]


def suggested(err: str) -> list[str]:
    """The words of the command that restores."""
    (line,) = [line for line in err.splitlines() if "to restore" in line]
    return shlex.split(line.rpartition("to restore them: ")[2])


def test_suggested_undo_targets_the_same_cluster(
    run_cli: Run, served: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Pasted as it is, in a shell whose default is another cluster."""
    config = tmp_path / "client's.properties"
    config.write_text("")
    options = ("-b", served.bootstrap, "--command-config", str(config), "--timeout", "20s", "-X", "client.id=me")
    code, _, err = run_cli(*RESET, "--execute", "--yes", *options)
    assert code == 0, err
    monkeypatch.setenv("KGROUPS_BOOTSTRAP_SERVER", "elsewhere.invalid:9092")
    program, *words = suggested(err)
    assert program == "kgroups" and words[-8:] == [*options[:4], *options[6:], "--timeout", "20"]
    code, _, err = run_cli(*words, "--yes")
    assert code == 0, err
    assert served.state.groups["a"].commits == {("t", 0): Commit(0, 50, 4), ("t", 1): Commit(1, 51, 3, "noted")}


def test_suggested_undo_names_the_profile(
    run_cli: Run, served: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        f'default = "staging"\n[profiles.staging]\nbootstrap = "elsewhere.invalid:9092"\n'
        f'[profiles.prod]\nbootstrap = "{served.bootstrap}"\n'
    )
    monkeypatch.setenv("KGROUPS_CONFIG", str(config))
    code, _, err = run_cli(*RESET, "--execute", "--yes", "--profile", "prod")
    assert code == 0, err
    assert suggested(err)[-2:] == ["--profile", "prod"]


@pytest.mark.parametrize(
    ("override", "shown"),
    [
        ("sasl.password=hunter2", "sasl.password=****"),
        ("sasl.jaas.config=x y password='hunter2';", "sasl.jaas.config=****"),
        ("sasl.password=@hunter2.txt", "sasl.password=@hunter2.txt"),
        ("sasl.password=@@hunter2", "sasl.password=****"),
        ("sasl.password=${env:HUNTER}", "sasl.password=${env:HUNTER}"),
        ("sasl.oauthbearer.token.endpoint.url=https://u:hunter2@h/", "sasl.oauthbearer.token.endpoint.url=****"),
        ("client.id=me", "client.id=me"),
    ],
)
def test_suggested_undo_contains_no_secret(override: str, shown: str) -> None:
    from kgroups.cli.frame.repeat_options import repeated
    from kgroups.config.flags import Flags

    assert repeated(Flags("h:1", overrides=(override,))) == ("-b", "h:1", "-X", shown)


def test_plan_prompt_and_result_name_the_cluster(ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"cluster fake-cluster ({served.bootstrap})"
    assert f"dry run on {where}: nothing was changed" in ask(*RESET)[2]
    asked: list[str] = []

    def yes(prompt: str) -> str:
        asked.append(prompt)
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", yes)
    code, _, err = ask(*RESET, "--execute")
    assert code == 0 and f"executed on {where}" in err
    assert asked[0].startswith(f"Write 2 offsets of 1 group on {where}? [y/N]")
    code, _, err = ask("delete", "b", "--execute")
    assert code == 0 and asked[1].startswith(f"Delete 1 group with 1 offset on {where}? [y/N]")


@pytest.mark.parametrize("how", [click.Abort, KeyboardInterrupt, EOFError])
def test_interrupted_prompt_ends_its_line_and_reports_no_change(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, how: type[BaseException], tmp_path: Path
) -> None:
    def interrupt(prompt: str) -> str:
        raise how

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", interrupt)
    code, out, err = ask(*RESET, "--execute")
    assert (code, out) == (130, "")
    assert err.endswith("\nkgroups: nothing was changed\n")
    assert not written(served) and not list(tmp_path.iterdir())


def test_different_cluster_at_the_same_address_is_not_written(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moves_and_says_yes(prompt: str) -> str:
        served.state.cluster_id = "another"
        return "y"

    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", moves_and_says_yes)
    code, _, err = ask(*RESET, "--execute")
    assert code == 2 and "the plan is for cluster fake-cluster, but the bootstrap servers now belong to" in err
    assert not written(served)


def test_failed_undo_file_write_leaves_no_file(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        code, _, err = ask(*RESET, "--execute", "--yes", "--undo-file", "undo.json")
    assert code == 2 and "cannot write undo.json: No space left on device; nothing was changed" in err
    assert not written(served) and not list(tmp_path.iterdir())
    assert ask(*RESET, "--execute", "--yes", "--undo-file", "undo.json")[0] == 0


def test_undo_file_without_a_name_is_rejected(ask: Run, served: Any) -> None:
    code, _, err = ask(*RESET, "--execute", "--yes", "--undo-file", "")
    assert code == 2 and "--undo-file: the name of a file is required" in err
    assert not served.fake.requests


def test_progress_line_is_cleared_before_other_text(capsys: pytest.CaptureFixture[str]) -> None:
    progress.wipe()
    assert capsys.readouterr().err == ""
    progress._shown = True
    progress.wipe()
    assert capsys.readouterr().err == "\r\x1b[K"
    assert not progress._shown


# What a file is checked against: cluster, topics, and groups as they are now.


def undo_of(ask: Run, *words: str) -> str:
    """Runs a command; gives the name of the undo file that it has written."""
    code, _, err = ask(*words, "--execute", "--yes", "--undo-file", "undo.json")
    assert code in (0, 1) and "the old offsets are in undo.json" in err, err
    return "undo.json"


def restore(ask: Run, file: str, *words: str) -> tuple[int, str, str]:
    return ask("reset-offsets", "--from-file", file, "--execute", "--yes", "-o", "json", *words)


def offsets(served: Any, group: str) -> dict[tuple[str, int], int]:
    commits = served.state.groups[group].commits
    return {pair: each.offset if isinstance(each, Commit) else each for pair, each in commits.items()}


def test_undo_file_records_origin_and_results(ask: Run, served: Any, tmp_path: Path) -> None:
    served.state.fail("OffsetCommit", "t-1", ErrorCode.offset_metadata_too_large)
    undo_of(ask, *RESET, "-X", "client.id=me", "-X", "sasl.password=hunter2")
    header, *rest = map(json.loads, (tmp_path / "undo.json").read_text().splitlines())
    assert header["schema"] == "kgroups/undo/v2" and header["cluster_id"] == "fake-cluster" and header["offsets"] == 2
    assert header["bootstrap"] == served.bootstrap and header["topic_ids"] == {"t": "AAAAAAAAAAAAAAAAAAAAAQ"}
    assert "hunter2" not in str(header) and "sasl.password=****" in header["command"]
    assert header["command"].startswith(f"kgroups reset-offsets -b {served.bootstrap} a --all-topics --to-latest")
    assert [(row["old_offset"], row["new_offset"]) for row in rest[:2]] == [(50, 100), (51, 100)]
    assert {row["result"]: row["offsets"] for row in rest[2:]} == {"applied": [1], "failed": [2]}


@pytest.mark.parametrize("export", [False, True])
def test_file_of_another_cluster_is_rejected(ask: Run, served: Any, tmp_path: Path, export: bool) -> None:
    if export:
        code, out, _ = ask(*RESET, "--export", "-o", "json")
        assert code == 0 and json.loads(out)["cluster_id"] == "fake-cluster"
        (tmp_path / "undo.json").write_text(out)
    else:
        undo_of(ask, *RESET)
    before = offsets(served, "a")
    sent = len(written(served))
    served.state.cluster_id = "another"
    code, out, err = restore(ask, "undo.json")
    assert (code, out) == (2, "") and len(written(served)) == sent
    assert "undo.json belongs to cluster fake-cluster (" in err and "but this is cluster another: nothing was" in err
    assert "--accept-mismatch cluster" in err and offsets(served, "a") == before
    served.state.topics["t"].topic_id = 2  # of course
    code, _, err = restore(ask, "undo.json", "--accept-mismatch", "cluster")
    assert code == 0 and "applied because of --accept-mismatch cluster" in err
    assert offsets(served, "a") == ({("t", 0): 100, ("t", 1): 100} if export else {("t", 0): 50, ("t", 1): 51})


def test_v1_undo_file_is_restored_with_a_note_about_its_cluster(ask: Run, served: Any, tmp_path: Path) -> None:
    items = [{"group": "a", "topic": "t", "partition": 0, "offset": 40}]
    (tmp_path / "old.json").write_text(json.dumps({"schema": "kgroups/undo/v1", "items": items}))
    code, _, err = restore(ask, "old.json")
    assert code == 0 and "old.json has no cluster ID" in err
    assert offsets(served, "a") == {("t", 0): 40, ("t", 1): 51}


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("export", [False, True])
def test_share_group_with_the_name_of_a_deleted_group_is_not_written(
    ask: Run, served: Any, tmp_path: Path, export: bool, typed: bool
) -> None:
    if export:
        (tmp_path / "undo.json").write_text(ask(*RESET, "--export", "-o", "json")[1])
    else:
        undo_of(ask, *RESET)
        if not typed:  # as earlier versions wrote it
            text = (tmp_path / "undo.json").read_text()
            (tmp_path / "undo.json").write_text(text.replace(', "type": "Classic"', ""))
    share = served.state.group("a", 0, type="Share", protocol_type="share")
    share.commits.update({("t", 0): 100, ("t", 1): 100})
    code, out, err = restore(ask, "undo.json")
    assert code == 1 and json.loads(out)["items"] == [] and "it is now a Share group, but" in err
    assert not served.fake.asked("AlterShareGroupOffsets") and share.commits == {("t", 0): 100, ("t", 1): 100}


def test_plan_is_not_applied_to_offsets_that_have_changed(ask: Run, served: Any, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(
        ask("reset-offsets", "a", "--topic", "t", "--to-offset", "60", "--export", "-o", "json")[1]
    )
    served.state.groups["a"].commits["t", 0] = 90
    code, out, err = restore(ask, "plan.json")
    assert code == 1 and [item["partition"] for item in json.loads(out)["items"]] == [1]
    assert (
        "offset 60 is not written: the committed offset has changed since: offset 50 in the plan, now offset 90" in err
    )
    assert offsets(served, "a") == {("t", 0): 90, ("t", 1): 60}
    code, _, _ = restore(ask, "plan.json", "--accept-mismatch", "offset")
    assert code == 0 and offsets(served, "a") == {("t", 0): 60, ("t", 1): 60}
    assert restore(ask, "plan.json")[0] == 0, "nothing is left to change"


def test_plan_without_topic_ids_is_applied_with_a_note(ask: Run, served: Any, tmp_path: Path) -> None:
    items = [{"group": "a", "topic": "t", "partition": 0, "offset": 40}]
    (tmp_path / "plan.json").write_text(json.dumps({"schema": "kgroups/plan/v1", "items": items}))
    code, _, err = restore(ask, "plan.json")
    assert code == 0 and "plan.json has no topic IDs to compare" in err and "plan.json has no cluster ID" in err


def test_recreated_topic_is_not_written(ask: Run, served: Any) -> None:
    undo_of(ask, *RESET)
    served.state.topics["t"].topic_id = 2
    code, out, err = restore(ask, "undo.json")
    assert code == 1 and json.loads(out)["items"] == []
    assert "offset 50 is not restored: the topic was deleted and recreated after undo.json was written" in err
    assert offsets(served, "a") == {("t", 0): 100, ("t", 1): 100}
    assert restore(ask, "undo.json", "--accept-mismatch", "topic")[0] == 0
    assert offsets(served, "a") == {("t", 0): 50, ("t", 1): 51}


@pytest.mark.parametrize("ids", [True, False])
def test_undo_beyond_the_log_end_is_reported(ask: Run, served: Any, ids: bool) -> None:
    """Without topic IDs, as before Kafka 2.8, it is not even written."""
    topic = served.state.topics["t"]
    topic.topic_id = 1 if ids else 0
    undo_of(ask, *RESET)
    topic.start, topic.end = 0, 30
    code, out, err = restore(ask, "undo.json", "--undo-file", "1")
    if ids:
        assert code == 0 and [row["note"] for row in json.loads(out)["items"]] == BOTH_BEYOND
        return
    assert code == 1 and "offset 50 is not restored: it is beyond the log end offset 30, so the topic may have" in err
    assert offsets(served, "a") == {("t", 0): 100, ("t", 1): 100}
    code, out, _ = restore(ask, "undo.json", "--accept-mismatch", "topic")
    assert code == 0 and [row["note"] for row in json.loads(out)["items"]] == BOTH_BEYOND


def test_undo_restores_offset_that_was_beyond_the_log_end(ask: Run, served: Any) -> None:
    served.state.topics["t"].topic_id = 0
    served.state.groups["a"].commits["t", 0] = 400
    undo_of(ask, *RESET)
    code, out, err = restore(ask, "undo.json")
    assert code == 0, err
    assert [row["note"] for row in json.loads(out)["items"]] == [BEYOND, None]
    assert offsets(served, "a") == {("t", 0): 400, ("t", 1): 51}


def test_unknown_log_end_is_noted(ask: Run, served: Any) -> None:
    undo_of(ask, *RESET)
    served.state.fail("ListOffsets", "t-1", ErrorCode.topic_authorization_failed)
    code, out, err = restore(ask, "undo.json")
    assert code == 0, err
    assert [row["note"] for row in json.loads(out)["items"]] == [None, "log end offset unknown"]
    assert offsets(served, "a") == {("t", 0): 50, ("t", 1): 51}


def test_group_that_moved_on_is_not_rewound(ask: Run, served: Any) -> None:
    undo_of(ask, *RESET)
    served.state.groups["a"].commits["t", 0] = 101
    before = offsets(served, "a")
    code, out, err = restore(ask, "undo.json")
    assert (code, json.loads(out)["items"], offsets(served, "a")) == (1, [], before)
    assert "group 'a': nothing is restored: 1 of 2 offsets would be left out\n" in err
    assert "kgroups: hint: to restore only the other, add --partial\n" in err
    code, out, err = restore(ask, "undo.json", "--partial", "--undo-file", "second.json")
    assert code == 1 and [(row["partition"], row["result"]) for row in json.loads(out)["items"]] == [(1, "applied")]
    assert (
        "group 'a': offset 50 is not restored: the committed offset has changed since: offset 100 was written, now"
        in err
    )
    assert offsets(served, "a") == {("t", 0): 101, ("t", 1): 51}
    code, out, err = restore(ask, "undo.json", "--accept-mismatch", "offset")
    assert code == 0 and "1 offset is already equal to those of undo.json" in err
    assert offsets(served, "a") == {("t", 0): 50, ("t", 1): 51}


def test_undo_skips_offsets_that_were_never_written(ask: Run, served: Any) -> None:
    """The group whose reset failed has gone on by itself."""
    served.state.fail("OffsetCommit", "b", ErrorCode.group_authorization_failed, 1)
    undo_of(ask, "reset-offsets", "a", "b", "--all-topics", "--to-latest")
    served.state.groups["b"].commits["t", 0] = 45
    code, _, err = restore(ask, "undo.json", "--undo-file", "second.json")
    assert code == 0, err
    assert "group 'b': 1 offset not restored: undo.json records that it was never written" in err
    assert (offsets(served, "a"), offsets(served, "b")) == ({("t", 0): 50, ("t", 1): 51}, {("t", 0): 45})
    assert restore(ask, "undo.json", "--accept-mismatch", "offset")[0] == 0
    assert offsets(served, "b") == {("t", 0): 5}


def test_undo_compares_unknown_results_with_current_offsets(ask: Run, served: Any, tmp_path: Path) -> None:
    """As after kill -9: one group was written, one was not, and one has gone on."""
    served.state.group("c", 1, commits={("t", 0): 7})
    undo_of(ask, "reset-offsets", "a", "b", "c", "--all-topics", "--to-latest")
    lines = (tmp_path / "undo.json").read_text().splitlines()
    (tmp_path / "undo.json").write_text("\n".join(line for line in lines if '"result"' not in line) + "\n")
    served.state.groups["b"].commits["t", 0] = 5
    served.state.groups["c"].commits["t", 0] = 8
    code, out, err = restore(ask, "undo.json")
    assert code == 1 and {row["group"] for row in json.loads(out)["items"]} == {"a"}
    assert "1 offset is already equal to those of undo.json" in err and "group 'c': offset 7 is not restored" in err
    assert offsets(served, "a") == {("t", 0): 50, ("t", 1): 51}
    assert (offsets(served, "b"), offsets(served, "c")) == ({("t", 0): 5}, {("t", 0): 8})


def test_undo_twice_has_nothing_to_do(ask: Run, served: Any) -> None:
    undo_of(ask, *RESET)
    assert restore(ask, "undo.json")[0] == 0
    sent = len(written(served))
    code, _, err = restore(ask, "undo.json")
    assert code == 0 and "2 offsets are already equal to those of undo.json" in err and len(written(served)) == sent


def test_accept_mismatch_requires_from_file(ask: Run) -> None:
    code, _, err = ask(*RESET, "--accept-mismatch", "topic")
    assert code == 2 and "--accept-mismatch requires --from-file" in err


def test_undo_of_lost_group_type_is_noted(ask: Run, served: Any) -> None:
    served.state.group("modern", 0, type="Consumer", commits={("t", 0): 60})
    undo_of(ask, "delete", "modern")
    code, _, err = restore(ask, "undo.json")
    assert code == 0 and "group 'modern' had the group type Consumer (KIP-848): the commit makes a Classic group" in err
    assert offsets(served, "modern") == {("t", 0): 60}


def test_undo_of_created_group_notes_that_it_stays(ask: Run, served: Any) -> None:
    undo_of(ask, "reset-offsets", "new", "--create-group", "--topic", "t", "--to-latest")
    code, _, err = restore(ask, "undo.json")
    assert code == 0 and "group 'new' will have no offsets left; Kafka removes it at once, or within" in err
    assert "kgroups delete removes it now" in err and offsets(served, "new") == {}


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the first lines of an undo file can be written."""
    whole = undo_file._write_whole

    def full(file: Any, data: bytes) -> None:
        if data.startswith((b'{"result"', b'{"amended"')):
            file.write(data[:5])
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(file, data)

    monkeypatch.setattr(undo_file, "_write_whole", full)


@pytest.mark.parametrize("answer", ["--yes", "asked"])
@pytest.mark.parametrize(
    "words,what",
    [
        (RESET, "it has the old offsets of all 2 planned offsets, and the results of 0; it lacks the results of 2"),
        (
            ("delete-offsets", "a", "--topic", "t:0"),
            "all 1 planned offsets, and the results of 0; it lacks the results",
        ),
        (("delete", "a"), "all 2 planned offsets, and the results of 0; it lacks the results of 2"),
        (
            ("snapshot", "restore", "a.snapshot"),
            "all 2 planned offsets, and the results of 0; it lacks the results of 2",
        ),
        (("undo", "first.json"), "all 2 planned offsets, and the results of 0; it lacks the results of 2"),
        (("settings", "unset", TIMEOUT, "a"), "the old settings of all 1 planned settings, and the results of 0"),
        (("undo", "settings.json"), "the old settings of all 1 planned settings, and the results of 0; it lacks"),
    ],
    ids=str,
)
def test_change_with_an_incomplete_undo_file_fails_and_says_what_it_lacks(
    run_cli: Run,
    served: Any,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    words: tuple[str, ...],
    what: str,
    answer: str,
) -> None:
    options = ("-b", served.bootstrap, "--execute", "--yes")
    served.state.settings |= {"": {TIMEOUT: "45000"}, "a": {TIMEOUT: "47000"}}
    assert run_cli("snapshot", "save", "a.snapshot", "a", *options[:2])[0] == 0
    assert run_cli("settings", "set", f"{TIMEOUT}=50000", "a", *options, "--undo-file", "settings.json")[0] == 0
    if words != RESET:
        assert run_cli(*RESET, *options, "--undo-file", "first.json")[0] == 0
    request.getfixturevalue("full_disk")
    monkeypatch.setattr("kgroups.cli.change.confirmation.Confirmation.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda prompt: "y")
    agreed = options if answer == "--yes" else options[:3]
    code, out, err = run_cli(*words, *agreed, "--undo-file", "undo.json", "-o", "json")
    assert code == 1, err
    failure = json.loads(out)["failures"][0]
    assert failure["reason"] == "undo_incomplete" and failure["scope"] == "cluster"
    assert "undo file undo.json is incomplete (No space left on device): it has the old " in failure["message"]
    assert what in failure["message"] and failure["message"] in err
    assert {row["result"] for row in json.loads(out)["items"]} == {"applied"}
    assert run_cli("undo", "undo.json", *options)[0] == 1  # it is incomplete, too


def test_undo_of_an_incomplete_file_restores_it(ask: Run, served: Any, full_disk: None, tmp_path: Path) -> None:
    assert ask(*RESET, "--execute", "--yes", "--undo-file", "undo.json")[0] == 1
    assert (tmp_path / "undo.json").read_text().endswith('{"res')
    assert ask("undo", "undo.json", "--execute", "--yes")[0] == 1
    assert offsets(served, "a") == {("t", 0): 50, ("t", 1): 51}


def test_undo_file_that_cannot_be_flushed_fails_the_change(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def fsync(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 2:  # file and directory, before the change
            raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", fsync)
    code, _, err = ask(*RESET, "--execute", "--yes", "--undo-file", "undo.json")
    assert code == 1 and "undo file undo.json is incomplete (Disk quota exceeded)" in err
    assert "the results of 2; it lacks nothing that is known, but the last results may not be on the disk" in err


def test_reset_to_group_without_commits_names_that_group(ask: Run, served: Any) -> None:
    code, _, err = ask("reset-offsets", "a", "--to-group", "b", "--topic", "t:1")
    assert code == 0 and "--to-group: group 'b' has no committed offsets on the selected partitions" in err
    assert "group 'a'" not in err


# Signals in the middle of a write.


def many(fake: FakeCluster) -> None:
    """Three groups on a broker that responds, and more on one that does not than are sent at a time."""
    fake.state.topic("t", [0, 0], start=0, end=100)
    for number in range(3):
        fake.state.group(f"a{number}", 0, commits={("t", 0): 50, ("t", 1): 51})
    for number in range(PIPELINE + 6):
        fake.state.group(f"b{number:02}", 1, commits={("t", 0): 50})
    fake.brokers[1].fault("OffsetCommit", silence)
    fake.brokers[1].fault("DeleteGroups", silence)


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def interrupted(until: Callable[[], bool], number: signal.Signals, *words: str) -> Ended:
    """Runs a command until something has happened, and sends it a signal."""
    words = (*words, "--execute", "--yes", "-o", "json")
    command = [sys.executable, "-m", "kgroups", *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            deadline = time.monotonic() + 60
            while not until():
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.02)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return Ended(process.returncode, out, err)


def in_the_middle(served: Any, sent: int) -> Callable[[], bool]:
    """Return whether this number of changes has reached the brokers, and a result the undo file."""
    file = Path("undo.json")
    return lambda: len(written(served)) >= sent and file.exists() and '"applied"' in file.read_text()


@pytest.fixture
def hung_cluster(serve: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return serve(fill=many)


TO_LATEST = ("reset-offsets", "--all-groups", "--all-topics", "--to-latest", "--undo-file", "undo.json")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_interrupted_write_reports_known_results(hung_cluster: Any, number: signal.Signals) -> None:
    middle = in_the_middle(hung_cluster, 4)
    code, out, err = interrupted(middle, number, *TO_LATEST, "-b", hung_cluster.bootstrap)
    assert code == 128 + number, err
    answer = json.loads(out)
    results = {row["group"]: (row["result"], row["error"]) for row in answer["items"]}
    assert len(answer["items"]) == 6 + PIPELINE + 6 and answer["undo_file"] == "undo.json"
    assert [results[f"a{each}"] for each in range(3)] == [("applied", None)] * 3
    unknown = f"the result is unknown: interrupted by {number.name} before the response arrived"
    unsent = f"not sent: interrupted by {number.name}"
    others = [results[f"b{each:02}"] for each in range(PIPELINE + 6)]
    hung = others.count(("unknown", unknown))
    assert 0 < hung <= PIPELINE and others.count(("failed", unsent)) == PIPELINE + 6 - hung
    last = err.splitlines()[-1]
    assert (
        f"interrupted by {number.name}, 6 applied, {PIPELINE + 6 - hung} failed, {hung} unknown; to restore the old"
        in last
    )
    assert last.endswith(f": kgroups undo undo.json --execute -b {hung_cluster.bootstrap}")
    assert "plan again" not in err and "Traceback" not in err
    scenario = parse_plan(Path("undo.json").read_text(), "f").scenario(None)
    assert scenario.origin
    recorded = {key[0]: result.value for key, result in scenario.origin.results.items()}
    assert recorded == {group: result for group, (result, _) in results.items()}


def test_interrupted_deletion_reports_known_results(hung_cluster: Any) -> None:
    words = ("delete", "--all-groups", "--undo-file", "undo.json")
    code, out, err = interrupted(in_the_middle(hung_cluster, 2), signal.SIGTERM, *words, "-b", hung_cluster.bootstrap)
    assert code == 143, err
    results = [(row["group"][0], row["result"]) for row in json.loads(out)["items"]]
    assert Counter(results) == {("a", "applied"): 3, ("b", "unknown"): PIPELINE + 6}
    assert "interrupted by SIGTERM, 3 applied, 70 unknown; to restore the old offsets: kgroups" in err


def test_interruption_before_the_first_change_suggests_no_undo(served: Any) -> None:
    """The signal arrives during the check of the groups, when the undo file has been written."""
    saved = Path("undo.json").exists

    async def hang_once_saved(writer: asyncio.StreamWriter, answer: bytes) -> None:
        if saved():
            await silence(writer, answer)
        writer.write(framed(answer))

    for broker in served.fake.brokers.values():
        broker.fault("OffsetFetch", hang_once_saved)
    words = ("delete", "a", "b", "--undo-file", "undo.json", "-b", served.bootstrap)
    code, out, err = interrupted(saved, signal.SIGTERM, *words)
    assert code == 143 and [row["result"] for row in json.loads(out)["items"]] == ["failed", "failed"]
    assert err.splitlines()[-1] == "kgroups: interrupted by SIGTERM, 2 failed: nothing was changed"


def test_interrupted_removal_reports_known_results(serve: Callable, tmp_path: Path) -> None:
    def shop_with_members(fake: FakeCluster) -> None:
        fake.state.topic("t", [0])
        for number, name in enumerate(("a", "b")):
            members = (FakeMember(f"{name}-1", {"t": (0,)}), FakeMember(f"{name}-2"))
            fake.state.group(name, number, state="Stable", members=members)
        fake.brokers[1].fault("LeaveGroup", silence)

    served = serve(fill=shop_with_members)
    group = served.state.groups["a"]

    def removing() -> bool:
        return not group.members and len(written(served)) == 2

    words = ("remove-members", "a", "b", "--all-members")
    code, out, err = interrupted(removing, signal.SIGHUP, *words, "-b", served.bootstrap)
    assert code == 129, err
    results = [(row["consumer_id"], row["result"]) for row in json.loads(out)["items"]]
    assert results == [("a-1", "applied"), ("a-2", "applied"), ("b-1", "unknown"), ("b-2", "unknown")]
    assert "interrupted by SIGHUP, 2 applied, 2 unknown: describe the groups before you try again" in err


def test_interrupted_plan_changes_nothing(served: Any, tmp_path: Path) -> None:
    served.fake.brokers[0].fault("OffsetFetch", silence)

    def planning() -> bool:
        return "OffsetFetch" in [request.api for request in served.fake.requests]

    code, _, err = interrupted(planning, signal.SIGINT, *RESET, "-b", served.bootstrap)
    assert code == 130 and err.endswith("kgroups: interrupted: nothing was changed\n")
    assert not list(tmp_path.iterdir())


def test_killed_run_leaves_the_received_results(hung_cluster: Any) -> None:
    interrupted(in_the_middle(hung_cluster, 4), signal.SIGKILL, *TO_LATEST, "-b", hung_cluster.bootstrap)
    scenario = parse_plan(Path("undo.json").read_text(), "f").scenario(None)
    assert scenario.origin and scenario.origin.source.cluster_id == "fake-cluster"
    assert {key[0] for key in scenario.origin.results} <= {"a0", "a1", "a2"}
    assert set(scenario.origin.results.values()) == {Result.APPLIED} and len(scenario.origin.written) == 76


def test_json_names_the_undo_file(ask: Run) -> None:
    assert json.loads(ask(*RESET, "-o", "json")[1])["undo_file"] is None
    code, out, _ = ask(*RESET, "-o", "json", "--execute", "--yes", "--undo-file", "undo.json")
    assert code == 0 and json.loads(out)["undo_file"] == "undo.json"
    assert "undo_file" not in json.loads(ask("list", "-o", "json")[1])


def test_kafka_command_rejects_a_file_of_another_cluster(
    ask: Run, served: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    undo_of(ask, *RESET)
    before, served.state.cluster_id = offsets(served, "a"), "another"
    words = ("--bootstrap-server", served.bootstrap, "--reset-offsets", "--group", "a", "--from-file", "undo.json")
    code = consumer_groups.TOOL.main((*words, "--execute"))
    assert code == 1 and "undo.json belongs to cluster fake-cluster" in capsys.readouterr().err
    assert offsets(served, "a") == before


@pytest.mark.parametrize(
    "words",
    [RESET, ("delete-offsets", "a", "--topic", "t"), ("delete", "a"), ("settings", "set", f"{TIMEOUT}=50000", "a")],
    ids=" ".join,
)
def test_every_change_names_the_undo_that_restores_it(run_cli: Run, served: Any, words: tuple[str, ...]) -> None:
    served.state.settings |= {"": {TIMEOUT: "45000"}, "a": {TIMEOUT: "47000"}}
    options = ("-b", served.bootstrap)
    code, _, err = run_cli(*words, "--execute", "--yes", *options)
    assert code == 0, err
    (file,) = Path().glob("kgroups-undo-a-*.json")
    assert suggested(err) == ["kgroups", "undo", str(file), "--execute", *options]
    code, _, err = run_cli(*suggested(err)[1:], "--yes")
    assert code == 0, err
    assert offsets(served, "a") == {("t", 0): 50, ("t", 1): 51}
    assert served.state.settings["a"] == {TIMEOUT: "47000"}


def test_undo_file_whose_name_begins_with_a_dash_is_no_option(ask: Run, served: Any) -> None:
    code, _, err = ask(*RESET, "--execute", "--yes", "--undo-file=-undo.json")
    assert code == 0 and suggested(err)[:3] == ["kgroups", "undo", "./-undo.json"], err
    code, _, err = ask("undo", "./-undo.json", "--execute", "--yes")
    assert code == 0 and offsets(served, "a") == {("t", 0): 50, ("t", 1): 51}, err


@pytest.mark.parametrize("option", [("--force",), ("--commit-window", "10s"), ("--when-empty", "10s")])
def test_undo_of_settings_rejects_options_for_offsets(run_cli: Run, served: Any, option: tuple[str, ...]) -> None:
    served.state.settings[""] = {TIMEOUT: "45000"}
    words = ("settings", "set", f"{TIMEOUT}=50000", "a", "--execute", "--yes", "--undo-file", "undo.json")
    assert run_cli(*words, "-b", served.bootstrap)[0] == 0
    code, out, err = run_cli("undo", "undo.json", *option, "--execute", "--yes", "-b", served.bootstrap)
    assert (code, out) == (2, "") and f"{option[0]} cannot be combined with an undo file of settings" in err
    assert served.state.settings["a"] == {TIMEOUT: "50000"}


def test_undo_restores_the_offsets_of_a_file_and_names_the_newest(ask: Run, served: Any) -> None:
    code, _, err = ask("undo")
    assert code == 2 and "name an undo file" in err
    assert ask(*RESET, "--execute", "--yes", "--undo-file", "kgroups-undo-a.json")[0] == 0
    code, _, err = ask("undo")
    assert code == 2 and "the newest in this directory: kgroups undo kgroups-undo-a.json" in err
    code, out, _ = ask("undo", "kgroups-undo-a.json", "--columns", "partition,new_offset", "--no-headers")
    assert (code, out.split()) == (0, ["0", "50", "1", "51"])
    assert served.state.groups["a"].commits["t", 0] != 50
    assert ask("undo", "kgroups-undo-a.json", "--execute", "--yes")[0] == 0
    commit = served.state.groups["a"].commits["t", 0]
    assert getattr(commit, "offset", commit) == 50


def test_undo_without_a_file_names_the_newest_by_its_content(ask: Run, tmp_path: Path) -> None:
    assert ask(*RESET, "--execute", "--yes")[0] == 0
    assert (
        ask("reset-offsets", "b", "--topic", "t:0", "--to-latest", "--execute", "--yes", "--undo-file", "u2.json")[0]
        == 0
    )
    (tmp_path / "other.json").write_text("{}")
    (older,) = tmp_path.glob("kgroups-undo-*.json")
    os.utime(older, (1, 1))
    assert "kgroups undo u2.json" in ask("undo")[2]


def test_undo_rejects_a_plan(ask: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text("a,t,0,3\n")
    code, _, err = ask("undo", "plan.csv")
    assert code == 2 and "plan.csv is a plan, not an undo file" in err
    assert "kgroups reset-offsets --from-file plan.csv" in err


def test_undo_file_is_read_before_the_connection_options(
    ask: Run, run_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KGROUPS_BOOTSTRAP_SERVER", raising=False)
    assert ask(*RESET, "--execute", "--yes", "--undo-file=-u.json")[0] == 0
    code, _, err = run_cli("undo")
    assert code == 2 and "the newest in this directory: kgroups undo ./-u.json" in err
    (tmp_path / "t.csv").write_text("one,two\n")
    (tmp_path / "e.json").touch()
    (tmp_path / "s.json").write_text('{"schema": "kgroups/undo-settings/v1", "settings": 0}\n')
    (tmp_path / "d.json").write_text('{"schema": "kgroups/undo/v2", "offsets": 3}\n')
    for file, message in (
        ("no.json", "no.json: No such file or directory"),
        ("t.csv", "t.csv is not an undo file"),
        ("e.json", "e.json is empty: kgroups changes nothing before an undo file is complete"),
        ("s.json", "s.json: the file contains no settings"),
        ("d.json", "d.json, line 2: truncated"),
    ):
        code, _, err = run_cli("undo", file)
        assert code == 2 and f"error: {message}" in err and "--from-file" not in err, err
    code, _, err = run_cli("undo", "./-u.json")
    assert code == 2 and "no bootstrap server" in err


@pytest.mark.parametrize("what", [RESET, ("settings", "set", f"{TIMEOUT}=50000", "a")], ids=["offsets", "settings"])
def test_undo_of_standard_input_reads_it_once(
    run_cli: Run, ask: Run, served: Any, tmp_path: Path, what: tuple[str, ...]
) -> None:
    served.state.settings[""] = {TIMEOUT: "45000"}
    assert run_cli(*what, "-b", served.bootstrap, "--execute", "--yes", "--undo-file", "undo.json")[0] == 0
    read, write = os.pipe()
    os.write(write, (tmp_path / "undo.json").read_bytes())
    os.close(write)
    saved = os.dup(0)
    os.dup2(read, 0)
    try:
        code, _, err = ask("undo", "-", "--execute", "--yes")
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(read)
    assert code == 0, err
    assert offsets(served, "a") == {("t", 0): 50, ("t", 1): 51} and not served.state.settings.get("a")


@pytest.mark.parametrize("what", [RESET, ("settings", "set", f"{TIMEOUT}=50000", "a")], ids=["offsets", "settings"])
def test_undo_of_an_undo_is_named_in_plan_and_file(
    run_cli: Run, ask: Run, served: Any, tmp_path: Path, what: tuple[str, ...]
) -> None:
    served.state.settings[""] = {TIMEOUT: "45000"}
    assert run_cli(*what, "-b", served.bootstrap, "--execute", "--yes", "--undo-file", "1.json")[0] == 0
    code, _, err = ask("undo", "1.json", "--execute", "--yes", "--undo-file", "2.json")
    assert code == 0 and "of an undo" not in err
    first, second = (json.loads((tmp_path / f"{n}.json").read_text().splitlines()[0]) for n in (1, 2))
    assert "undoes" not in first and second["undoes"] == first["command"]
    code, _, err = ask("undo", "2.json", "--execute", "--yes", "--undo-file", "3.json")
    assert code == 0
    assert f"2.json is of an undo: to restore from it undoes that undo, of: {first['command']}" in err
    third = json.loads((tmp_path / "3.json").read_text().splitlines()[0])
    assert third["undoes"] == second["command"]
