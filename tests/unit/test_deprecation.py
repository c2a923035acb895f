"""Deprecated names are reported once per process, with their replacement."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import kgroups
from kgroups import DeletedGroup, Group, ListedGroup, PlannedOffset, PlannedSetting, deprecation
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


@pytest.mark.parametrize("kind", [DeletedGroup, Group, ListedGroup, PlannedOffset, PlannedSetting])
def test_group_has_one_name_and_a_deprecated_one(kind: type[Any]) -> None:
    item = kind(**dict.fromkeys(kind._fields) | {"group": "g"})
    with pytest.warns(
        DeprecationWarning, match=f"kgroups.{kind.__name__}.group_id is deprecated; use kgroups."
    ) as found:
        assert (item.group_id, item.group) == ("g", "g")
    assert [warning.filename for warning in found] == [__file__]


def test_kgroups_does_not_use_the_deprecated_name_of_a_group() -> None:
    """Types of the wire protocol, and of librdkafka, have this name."""
    package = Path(kgroups.__file__).parent
    others = [package / "protocol", package / "admin" / "rdkafka"]
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        if not any(map(path.is_relative_to, others))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "group_id"
    ]
    assert found == []
