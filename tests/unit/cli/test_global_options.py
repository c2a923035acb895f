"""Options that all commands have, and options before the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import click
import pytest

from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.render.color import choose_color, chosen_color, has_color
from tests.unit.conftest import Ran, Served

Run = Callable[..., Ran]


@pytest.fixture
def bootstrap(serve: Callable[..., Served]) -> str:
    served = serve(brokers=1)
    served.state.group("there", 0)
    return served.bootstrap


def leaves(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        loaded = command.load() if isinstance(command, LazyCommand) else command
        if isinstance(loaded, click.Group):
            yield from leaves(loaded, f"{path} {name}")
        else:
            yield f"{path} {name}", loaded


@pytest.mark.parametrize(("path", "command"), [pytest.param(*each, id=each[0]) for each in leaves(cli, "kgroups")])
def test_every_command_has_quiet_and_color_once(path: str, command: click.Command) -> None:
    options = [name for param in command.params for name in (*param.opts, *param.secondary_opts)]
    for name in ("-q", "--quiet", "--color", "--no-color"):
        assert options.count(name) == 1, (path, name)


def test_options_before_the_command_are_those_of_the_command(run_cli: Run, bootstrap: str) -> None:
    assert run_cli("-b", bootstrap, "list").out == "there\n"
    assert (
        run_cli(f"--bootstrap-server={bootstrap}", "-qo", "csv", "list", "--columns", "group").out == "group\nthere\n"
    )
    assert run_cli("-b", bootstrap, "--", "list").out == "there\n"
    shown = run_cli("-b", bootstrap, "-o", "json", "config", "show")
    assert [each["value"] for each in json.loads(shown.out)["items"]] == [bootstrap]


def test_option_after_the_command_takes_precedence(run_cli: Run, bootstrap: str) -> None:
    answer = run_cli("-b", "127.0.0.1:1", "-o", "json", "list", "-b", bootstrap, "-o", "plain")
    assert (answer.code, answer.out) == (0, "there\n")
    assert run_cli("-b", bootstrap, "list", "-b", "127.0.0.1:1").code == 1
    shown = run_cli("-b", bootstrap, "-X", "client.id=a", "config", "show", "-X", "client.id=b", "-o", "json")
    assert "b" in [each["value"] for each in json.loads(shown.out)["items"]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("-b", "x:1", "sandbox", "status"), "kgroups sandbox status: error: No such option '-b'"),
        (("-o", "json", "exporter"), "kgroups exporter: error: No such option '-o'"),
        (("-b", "x:1"), "Missing command"),
        (("-b", "x:1", "lisst"), "No such command 'lisst'"),
        (("--wide", "list"), "No such option '--wide'"),
        (("-b",), "'-b' requires an argument"),
    ],
)
def test_option_that_the_command_lacks_is_an_error(arguments: tuple[str, ...], error: str, run_cli: Run) -> None:
    answer = run_cli(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert error in answer.err
    assert len(answer.err.splitlines()) == 1


def test_help_lists_the_options_before_the_command(run_cli: Run) -> None:
    for arguments in (("--help",), ("-q", "--help"), ("-b", "x:1", "--help")):
        answer = run_cli(*arguments)
        assert answer.code == 0
        assert "before or after the command" in " ".join(answer.out.split())
    assert run_cli("-q", "--help", "list").out == run_cli("list", "--help").out


def test_quiet_omits_notes_but_no_failures(run_cli: Run, bootstrap: str) -> None:
    selection = ("describe", "there", "absent", "-b", bootstrap)
    assert "kgroups: note: " in run_cli(*selection).err
    for answer in (run_cli(*selection, "--quiet"), run_cli("-q", *selection)):
        assert answer.code == 1
        assert "note" not in answer.err
        assert "absent" in answer.err
    assert "kgroups: note: " in run_cli(*selection).err


def test_quiet_omits_notes_on_settings(run_cli: Run, bootstrap: str) -> None:
    assert "unknown and ignored" in run_cli("list", "-b", bootstrap, "-X", "foo=1").err
    assert run_cli("list", "-b", bootstrap, "-X", "foo=1", "-q").err == ""


def test_color_can_be_chosen_against_terminal_and_environment(
    run_cli: Run, bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("describe", "there", "--state", "-b", bootstrap, "-o", "table")
    assert "\x1b[" not in run_cli(*command).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" in run_cli(*command, "--color").out
    assert "\x1b[" in run_cli("--color", *command).out
    assert "\x1b[" not in run_cli("--color", *command, "--no-color").out
    assert "\x1b[" not in run_cli(*command).out


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "environment", "colored"),
    [
        (None, {}, True),
        (None, {"NO_COLOR": "1"}, False),
        (None, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1"}, True),
        (False, {}, False),
    ],
)
def test_terminal_has_color_as_chosen(
    choice: bool | None, environment: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgroups.render.console import console_on

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    choose_color(choice)
    try:
        assert chosen_color() is choice
        assert has_color(Terminal()) is colored
        terminal = Terminal()
        console_on(terminal).print("x", style="red")
        assert ("\x1b[" in terminal.getvalue()) is colored
        assert has_color(StringIO()) is (choice is True)
    finally:
        choose_color(None)


def test_options_before_the_command_complete_its_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kgroups.cli.completion.answer import _command_items

    def completions(*arguments: str) -> list[str]:
        return [item.value for item in _command_items(cli, arguments[:-1], arguments[-1])]

    assert "--bootstrap-server" in completions("--boot")
    assert completions("-o", "jsonl") == ["jsonl"]
    assert completions("-b", "127.0.0.1:1", "lis") == ["list"]
    assert completions("-b", "127.0.0.1:1", "list", "--stat") == ["--state"]
