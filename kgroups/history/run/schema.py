"""``kgroups history schema``, and the views and completions of tables: without the packages of the extra."""

from __future__ import annotations

import json

import click

from kgroups.cli.frame.known_values import beginning
from kgroups.cli.frame.lazy_command import resolve
from kgroups.errors import UsageError
from kgroups.render.views import View, view_of

from ..contracts import TABLES
from ..contracts.dictionary import dictionary
from ..contracts.json_schema import all_schemas, row_schema
from ..verify.result import Check

VERIFIED = view_of("history-test", [(name, name in ("checked", "failed")) for name in Check._fields])
"""The view of ``kgroups history test``."""


def view_of_line(context: click.Context) -> View | None:
    """Return the view of a command line, which may be incomplete; ``None`` if it names no table."""
    # click does not parse arguments if the last option lacks its value
    name = context.command.name or ""
    table = context.params.get("table") or (context.args[0] if name == "show" and context.args else name)
    return view_of(table, ((each.name, False) for each in TABLES[table].columns)) if table in TABLES else None


def complete_table(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the tables of history that have a schema."""
    return beginning(TABLES, prefix)


def complete_shown_table(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the tables of history that ``history show`` shows."""
    return beginning(resolve("kgroups.history.jobs.show:TABLES"), prefix)


def schema(table: str | None, form: str) -> int:
    """Run ``kgroups history schema``; return the exit code."""
    if table is not None and table not in TABLES:
        raise UsageError(f"unknown table {table!r}; use one of {', '.join(TABLES)}")
    if form == "markdown":
        if table is not None:
            raise UsageError("--format markdown is for all tables; omit TABLE")
        click.echo(dictionary(), nl=False)
        return 0
    found = all_schemas() if table is None else row_schema(TABLES[table])
    click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    return 0
