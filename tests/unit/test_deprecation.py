"""Deprecated names are reported once per process, with their replacement."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import click
import pytest

from kgroups import deprecation
from kgroups.cli.frame.deprecated_options import DeprecatedOption, deprecated_option
from kgroups.cli.frame.exit_status import set_quiet
from kgroups.deprecation import warn_once


@pytest.fixture(autouse=True)
def _nothing_reported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(deprecation, "_reported", set())
    set_quiet(False)
    yield
    set_quiet(False)


@click.command()
@click.option("--interval", default=15.0)
@deprecated_option("--max-age", replacement="--interval", type=float)
def command(interval: float, max_age: float | None) -> None:
    click.echo(interval if max_age is None else max_age)


def run(*words: str) -> None:
    command.main(list(words), "kgroups exporter", standalone_mode=False)


def test_deprecated_option_works_and_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("--max-age", "5"), ("--max-age", "6"), ()):
        run(*words)
    out, err = capsys.readouterr()
    assert out.split() == ["5.0", "6.0", "15.0"]
    assert err == "kgroups: note: --max-age of kgroups exporter is deprecated; use --interval\n"


def test_deprecated_option_is_not_noted_with_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    set_quiet(True)
    run("--max-age", "5")
    assert capsys.readouterr().err == ""


def test_deprecated_option_is_not_in_the_help() -> None:
    context = click.Context(command, info_name="kgroups exporter")
    assert "--max-age" not in command.get_help(context)
    assert [param.replacement for param in command.params if isinstance(param, DeprecatedOption)] == ["--interval"]


def old_name() -> int:
    warn_once("kgroups.Cluster.old_name", "kgroups.Cluster.new_name")
    return 1


def test_deprecated_name_warns_once_at_its_caller() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert [old_name(), old_name()] == [1, 1]
    (warning,) = found
    assert warning.category is DeprecationWarning and warning.filename == __file__
    assert str(warning.message) == "kgroups.Cluster.old_name is deprecated; use kgroups.Cluster.new_name"
