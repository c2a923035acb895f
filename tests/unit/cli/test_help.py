"""Help texts of all commands and options."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kgroups.cli.frame.lazy_command import LazyCommand, summary_of
from kgroups.cli.main import cli, main


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        command = command.load() if isinstance(command, LazyCommand) else command
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


ALL = list(commands(cli, "kgroups"))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[path for path, _ in ALL])
def test_every_command_has_help_with_short_first_line(path: str, command: click.Command) -> None:
    assert command.help, path
    first = command.help.splitlines()[0]
    assert len(first) <= 60, first


def later(group: click.Group) -> Iterator[LazyCommand]:
    for command in group.commands.values():
        if isinstance(command, LazyCommand):
            yield command
            loaded = command.load()
            if isinstance(loaded, click.Group):
                yield from later(loaded)


@pytest.mark.parametrize("command", list(later(cli)), ids=lambda command: command.name)
def test_group_help_matches_command_help(command: LazyCommand) -> None:
    loaded = command.load()
    assert loaded.help
    assert (command.name, summary_of(command.module)) == (loaded.name, loaded.help.splitlines()[0])
    for width in (20, 45, 80):
        assert command.get_short_help_str(width) == loaded.get_short_help_str(width)


@pytest.mark.parametrize(("path", "command"), ALL, ids=[path for path, _ in ALL])
def test_every_option_has_help(path: str, command: click.Command) -> None:
    for param in command.params:
        if isinstance(param, click.Option):
            assert param.help, f"{path} {param.opts}"
            if param.envvar:
                assert str(param.envvar) in param.help


def test_version_prints_the_program_and_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    from kgroups.version import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"kgroups {__version__}\n"


def test_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "kgroups", "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ran.returncode, ran.stderr) == (1, "kgroups: error: cannot write the output: No space left on device\n")


def test_closed_pipe_ends_silently() -> None:
    """``kgroups --help`` into a reader that is already gone."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kgroups", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 141
    assert err == ""


def test_help_of_a_number_without_bounds_shows_no_range() -> None:
    for path, command in ALL:
        assert "None]" not in command.get_help(click.Context(command, info_name=path)), path
