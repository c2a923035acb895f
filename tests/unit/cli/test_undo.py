"""Undo files as a user meets them: where they lead, what they restore, what they refuse; over fake brokers."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from kgroups.cli import progress
from kgroups.model.offsets import Commit
from tests.fakes.broker import FakeCluster

Run = Callable[..., tuple[int, str, str]]
RESET = ("reset-offsets", "a", "--all-topics", "--to-latest")


def shop(fake: FakeCluster) -> None:
    fake.world.topic("t", [0, 1], start=10, end=100)
    fake.world.group("a", 0, commits={("t", 0): 50, ("t", 1): Commit(1, 51, 3, "noted")})
    fake.world.group("b", 1, commits={("t", 0): 5})


@pytest.fixture
def served(serve: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return serve(world=shop)


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


def test_suggested_undo_leads_back_to_the_same_cluster(
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
    assert served.world.groups["a"].commits == {("t", 0): Commit(0, 50, 4), ("t", 1): Commit(1, 51, 3, "noted")}


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
def test_suggested_undo_holds_no_secret(override: str, shown: str) -> None:
    from kgroups.cli.repeat_options import repeated
    from kgroups.config.load import Flags

    assert repeated(Flags("h:1", overrides=(override,))) == ("-b", "h:1", "-X", shown)


def test_plan_question_and_result_name_the_cluster(ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    where = f"cluster fake-cluster ({served.bootstrap})"
    assert f"dry run on {where}: nothing was changed" in ask(*RESET)[2]
    asked: list[str] = []

    def yes(prompt: str) -> str:
        asked.append(prompt)
        return "y"

    monkeypatch.setattr("kgroups.cli.confirm.Consent.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", yes)
    code, _, err = ask(*RESET, "--execute")
    assert code == 0 and f"executed on {where}" in err
    assert asked[0].startswith(f"Write 2 offsets of 1 group on {where}? [y/N]")
    code, _, err = ask("delete", "b", "--execute")
    assert code == 0 and asked[1].startswith(f"Delete 1 group with 1 offset on {where}? [y/N]")


@pytest.mark.parametrize("how", [click.Abort, KeyboardInterrupt, EOFError])
def test_interrupted_question_ends_its_line_and_says_that_nothing_was_changed(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch, how: type[BaseException], tmp_path: Path
) -> None:
    def interrupt(prompt: str) -> str:
        raise how

    monkeypatch.setattr("kgroups.cli.confirm.Consent.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", interrupt)
    code, out, err = ask(*RESET, "--execute")
    assert (code, out) == (130, "")
    assert err.endswith("\nkgroups: nothing was changed\n")
    assert not written(served) and not list(tmp_path.iterdir())


def test_another_cluster_behind_the_same_address_is_not_written(
    ask: Run, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moves_and_says_yes(prompt: str) -> str:
        served.world.cluster_id = "another"
        return "y"

    monkeypatch.setattr("kgroups.cli.confirm.Consent.check", lambda self: None)
    monkeypatch.setattr("click.termui.visible_prompt_func", moves_and_says_yes)
    code, _, err = ask(*RESET, "--execute")
    assert code == 2 and "the plan is for cluster fake-cluster, but the bootstrap servers now belong to" in err
    assert not written(served)


def test_failed_write_leaves_no_undo_file_behind(
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
