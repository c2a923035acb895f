"""Print the schema of a table, or of all tables.

The JSON Schema is that of one row of show TABLE -o json; without TABLE, of all tables by name under $defs. For the
table decoded, it is that of one line of dump.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.options import completer

command = Command(
    "schema",
    __doc__,
    body="kgroups.history.run.schema:schema",
    options=(
        click.argument("table", required=False, shell_complete=completer("kgroups.history.run.schema:complete_table")),
        click.option(
            "--format",
            "form",
            type=click.Choice(["json", "markdown"]),
            default="json",
            show_default=True,
            help="json: a JSON Schema (2020-12). markdown: the data dictionary of all tables.",
        ),
    ),
    examples=(
        ("Print the schema of a table", "kgroups history schema commits"),
        ("Print all schemas", "kgroups history schema"),
    ),
)
