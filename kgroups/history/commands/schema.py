"""``kgroups history schema``: the contracts of the tables."""

from __future__ import annotations

import json
from typing import Any

import click

from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.options import completer
from kgroups.errors import UsageError


@click.command("schema", cls=Command)
@click.argument("table", required=False, shell_complete=completer("tables"))
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "markdown"]),
    default="json",
    show_default=True,
    help="json: a JSON Schema (2020-12). markdown: the data dictionary of all tables.",
)
def schema(table: str | None, form: str) -> int:
    """Print the schema of a table, or of all tables.

    The JSON Schema is that of one row of show TABLE -o json; without TABLE, of all tables by name under $defs. For the
    table decoded, it is that of one line of dump.
    """
    from ..contracts import TABLES

    if table is not None and table not in TABLES:
        raise UsageError(f"unknown table {table!r}; use one of {', '.join(TABLES)}")
    if form == "markdown":
        if table is not None:
            raise UsageError("--format markdown is for all tables; omit TABLE")
        from ..contracts.dictionary import dictionary

        click.echo(dictionary(), nl=False)
        return 0
    click.echo(json.dumps(_schema(table), indent=2, ensure_ascii=False))
    return 0


def _schema(name: str | None) -> dict[str, Any]:
    from ..contracts import TABLES
    from ..contracts.json_schema import all_schemas, row_schema

    return all_schemas() if name is None else row_schema(TABLES[name])
