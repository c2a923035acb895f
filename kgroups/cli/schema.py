"""``kgroups schema``: the JSON Schemas of outputs and files."""

from __future__ import annotations

import click

from kgroups.errors import UsageError

from .frame.lazy_command import Command
from .frame.options import completer, output_options
from .frame.run_query import Shape, show


@click.command("schema", cls=Command)
@click.argument("name", required=False, shell_complete=completer("schemas"))
@click.option("--item", is_flag=True, help="Print the schema of one item, which is one line of -o jsonl.")
@output_options
def schema(shape: Shape, name: str | None, item: bool) -> int:
    """Print the JSON Schemas of outputs and files.

    Without NAME, lists the schemas. NAME is the value of the key schema in an output or file, such as
    kgroups/offsets/v1, or a part of it, such as offsets. Its latest version is printed, in JSON Schema 2020-12.
    """
    if name is not None:
        if shape.output not in ("auto", "json") or shape.wide or shape.no_headers or shape.columns or shape.sort:
            raise UsageError(
                "a schema is JSON: --wide, --no-headers, --columns, --sort, and other formats are for the list"
            )
        return _print(name, item=item)
    if item:
        raise UsageError("--item requires NAME")
    from kgroups.model.outcome import Outcome
    from kgroups.render.schema_view import SCHEMAS, SchemaRow
    from kgroups.schemas import heads

    shape.check(SCHEMAS)
    rows = tuple(SchemaRow(str(name), form, title) for name, form, title in heads())
    return show(Outcome(rows), None, shape, SCHEMAS)


def _print(name: str, *, item: bool) -> int:
    import json

    from kgroups.schemas import find_schema, item_schema, schema_names, schema_of

    found = find_schema(name)
    if found is None:
        from difflib import get_close_matches

        names = sorted({each.name for each in schema_names()})
        close = get_close_matches(name.removeprefix("kgroups/").partition("/")[0], names, 3, 0.6)
        hint = f"did you mean {' or '.join(close)}? " if close else ""
        raise UsageError(f"unknown schema {name!r}", hint=f"{hint}to list the schemas: kgroups schema")
    printed = schema_of(found)
    if item:
        if "item" not in printed.get("$defs", {}):
            raise UsageError(f"--item: {found} has no items")
        printed = item_schema(printed)
    click.echo(json.dumps(printed, indent=1, ensure_ascii=False))
    return 0
