"""``kgroups schema``: the JSON Schemas of outputs and files."""

from __future__ import annotations

import json
from difflib import get_close_matches

import click

from kgroups.errors import UsageError
from kgroups.model.outcome import Outcome
from kgroups.render.schema_view import SCHEMAS, SchemaRow
from kgroups.schemas import find_schema, heads, item_schema, schema_names, schema_of

from .frame.known_values import beginning
from .frame.output import Shape, show


def schema(shape: Shape, name: str | None, item: bool) -> int:
    """Run ``kgroups schema``; return the exit code."""
    if name is not None:
        if shape.output not in ("auto", "json") or shape.wide or shape.no_headers or shape.columns or shape.sort:
            raise UsageError(
                "a schema is JSON: --wide, --no-headers, --columns, --sort, and other formats are for the list"
            )
        return _print(name, item=item)
    if item:
        raise UsageError("--item requires NAME")

    shape.check(SCHEMAS)
    rows = tuple(SchemaRow(str(name), form, title) for name, form, title in heads())
    return show(Outcome(rows), None, shape, SCHEMAS)


def _print(name: str, *, item: bool) -> int:
    found = find_schema(name)
    if found is None:
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


def complete_name(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the names of the schemas, and with a slash, also their versions."""
    names = schema_names()
    versions = [f"{each.name}/v{each.version}" for each in names] if "/" in prefix else []
    return beginning([*dict.fromkeys(each.name for each in names), *map(str, names), *versions], prefix)
