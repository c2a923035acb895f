"""Print the JSON Schemas of outputs and files.

Without NAME, lists the schemas. NAME is the value of the key schema in an output or file, such as
kgroups/offsets/v1, or a part of it, such as offsets. Its latest version is printed, in JSON Schema 2020-12.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.options import completer, output_options

command = Command(
    "schema",
    __doc__,
    body="kgroups.cli.schema:schema",
    options=(
        click.argument("name", required=False, shell_complete=completer("kgroups.cli.schema:complete_name")),
        click.option("--item", is_flag=True, help="Print the schema of one item, which is one line of -o jsonl."),
        output_options,
    ),
    examples=(
        ("List the schemas of outputs and files", "kgroups schema"),
        ("Print that of kgroups describe", "kgroups schema kgroups/offsets/v1"),
        ("Print that of rules files, for an editor", "kgroups schema rules"),
    ),
    views=(Shown("kgroups.render.schema_view:SCHEMAS"),),
    page="output-formats.md#json-schemas",
)
