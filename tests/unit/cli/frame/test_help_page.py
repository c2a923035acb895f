"""Sections, columns, and examples in the help of commands."""

from __future__ import annotations

import inspect
import shlex
import subprocess
import sys
from contextlib import suppress

import click
import pytest

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.help_page import OPTIONS, SHARED, examples, section_of_option, sections
from kgroups.cli.frame.lazy_command import LazyCommand, resolve
from kgroups.cli.main import cli


def contexts(parent: click.Context) -> list[click.Context]:
    """Return a context of each command of a group."""
    assert isinstance(parent.command, click.Group)
    found = []
    for name, command in parent.command.commands.items():
        loaded = command.load() if isinstance(command, LazyCommand) else command
        context = click.Context(loaded, parent, name, terminal_width=100, help_option_names=["--help"])
        found += contexts(context) if isinstance(loaded, click.Group) else [context]
    return found


ALL = {context.command_path: context for context in contexts(click.Context(cli, info_name="kgroups"))}


def options_of(path: str) -> set[str]:
    return {param.opts[-1] for param in ALL[path].command.params if isinstance(param, click.Option)}


@pytest.mark.parametrize("path", ALL)
def test_help_has_each_option_once_and_connection_options_in_their_section(path: str) -> None:
    text = ALL[path].command.get_help(ALL[path])
    records = [record for _, found in sections(ALL[path].command, ALL[path]) for record in found]
    options = [param for param in ALL[path].command.get_params(ALL[path]) if isinstance(param, click.Option)]
    shown = [param.get_help_record(ALL[path]) for param in options]
    assert sorted(names for names, _ in records) == sorted(record[0] for record in shown if record)
    for section, option in (("Connection", "--bootstrap-server"), ("Output", "--columns"), ("Safety", "--execute")):
        assert (f"\n{section}:\n" in text) >= (option in options_of(path))


def test_commands_of_groups_have_no_option_without_a_section() -> None:
    rest = {
        (path, option.opts[-1])
        for path, context in ALL.items()
        if "--regex" in options_of(path)
        for option in context.command.params
        if isinstance(option, click.Option) and section_of_option(option, context) == OPTIONS
    }
    assert rest == set()


def test_sections_name_only_options_that_exist() -> None:
    everything = set().union(*map(options_of, ALL))
    assert set(" ".join(SHARED.values()).split()) <= everything
    for path, context in ALL.items():
        assert isinstance(context.command, Command)
        assert set(" ".join(context.command.sections.values()).split()) <= options_of(path), path


@pytest.mark.parametrize("path", ALL)
def test_every_command_has_two_or_three_examples_that_parse(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KGROUPS_STORE", raising=False)
    shown = examples(ALL[path])
    assert 2 <= len(shown) <= 3
    assert any(path in line for _, line in shown[:1])
    for sentence, line in shown:
        assert sentence[0].isupper() and sentence[-1] != "."
        command = line.removeprefix('eval "$(').removesuffix(')"').partition(" | ")[0]
        words = shlex.split(command)[1:]
        group: click.Command = cli
        while isinstance(group, click.Group):
            found = group.commands[words.pop(0)]
            group = found.load() if isinstance(found, LazyCommand) else found
        with suppress(click.exceptions.Exit):  # of options that print and exit
            group.make_context(group.name, words)


def test_help_of_columns_names_those_of_each_view() -> None:
    context = ALL["kgroups lag"]
    text = " ".join(context.command.get_help(context).split())
    assert "with --by group: group, " in text
    assert "with --by member: group, " in text
    context = ALL["kgroups history lag"]
    assert "--by" not in context.command.get_help(context)


@pytest.mark.parametrize("path", [path for path in ALL if "--columns" in options_of(path)])
def test_help_of_columns_names_the_columns_unless_a_table_or_a_query_defines_them(path: str) -> None:
    records = dict(record for _, found in sections(ALL[path].command, ALL[path]) for record in found)
    defined = path in ("kgroups history show", "kgroups history sql")
    assert records["--columns A,B,..."].startswith("Columns to show, in this order" + ("." if defined else ": ")), path


@pytest.mark.parametrize("path", ALL)
def test_body_takes_what_the_options_are(path: str) -> None:
    command = ALL[path].command
    assert isinstance(command, Command)
    parameters = inspect.signature(resolve(command.body)).parameters.values()
    if not any(each.kind is each.VAR_KEYWORD for each in parameters):
        assert {each.name for each in parameters} == {*command.arguments}
    assert {each.name for each in parameters if each.default is each.empty} - {"rest", "shape"} <= {*command.arguments}


def test_sections_of_describe() -> None:
    text = ALL["kgroups describe"].command.get_help(ALL["kgroups describe"])
    titles = [line.rstrip(":") for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == ["Selection", "View", "Output", "Connection", "Other", "Examples"]


@pytest.mark.parametrize(("arguments", "loaded"), [(["list", "--no-such"], False), (["list", "--help"], True)])
def test_texts_of_the_help_are_imported_only_for_the_help(arguments: list[str], loaded: bool) -> None:
    code = f"import sys; from kgroups.cli.main import main; main({arguments}); print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(ran.stderr.split())
    assert "kgroups.cli.commands.list" in modules
    assert ("kgroups.cli.frame.help_page" in modules) == loaded


def test_example_of_the_help_is_one_line() -> None:
    context = ALL["kgroups sandbox up"]
    text = context.command.get_help(context)
    assert "  Start one broker:\n  $ kgroups sandbox up\n\n  Start three" in text
    assert "\nOptions:\n" in text and "\nOther:\n" not in text


@pytest.mark.parametrize(
    ("module", "missing"),
    [
        ("upkeep", {"pyspark"}),
        ("show", {"pyspark"}),
        ("report", {"pyspark"}),
        ("publish", {"pyspark", "duckdb", "pyiceberg", "deltalake"}),
        ("dump", {"pyspark", "duckdb", "obstore"}),
    ],
)
def test_body_imports_no_extra_that_only_some_options_need(module: str, missing: set[str]) -> None:
    code = f"import sys; sys.modules.update(dict.fromkeys({missing})); import kgroups.history.run.{module}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
