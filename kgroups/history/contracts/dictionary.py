"""The data dictionary: every table and column as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import fill
from typing import Final

from ..tables import DECODED, STORED, Table
from . import DERIVED
from .json_schema import parquet_type

WIDTH: Final = 120
"""Maximum length of a line of text."""

_NAME: Final = re.compile(r"`[^`]*`|\w*_\w+")
"""Code, or a name with underscores."""

_TITLE = """\
# Data dictionary of history

Every table of `kgroups history`, with its columns. This page is generated from the definitions that kgroups itself
uses, by `kgroups history schema --format markdown`. `kgroups history schema TABLE` prints the same as a JSON Schema.

"""
_RULES = """\
- **Null** means absent or unknown; it is never replaced by 0 or -1. A column that is not nullable has a value in every
  row.
- **Position.** `log_partition` and `log_offset` are the position of a record in `__consumer_offsets`. They are the only
  order of events.
- **Files.** Every Parquet file of a store has one more column, the first: `cluster_id`, the ID of the cluster.
- **Compatibility.** A later version may add tables, and nullable columns. Any other change has a new schema version.

| type | Parquet | JSON |
|---|---|---|
"""

_JSON = {
    "smallint": "number",
    "int": "number",
    "bigint": "number",
    "double": "number",
    "boolean": "boolean",
    "string": "string",
    "binary": "string: hexadecimal digits; of `dump`, base64",
    "timestamp": "string: ISO 8601, UTC, milliseconds",
    "array<int>": "array",
    "array<bigint>": "array",
    "array<string>": "array",
}


def dictionary() -> str:
    """Return the page."""
    return _TITLE + tables()


def tables() -> str:
    """Return the page without its title and first paragraph."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _RULES + "".join(f"| `{name}` | `{parquet_type(name)}` | {text} |\n" for name, text in _JSON.items())
    yield from _part("Collected tables", "In a store, as Parquet files by day.", STORED)
    yield from _part("Derived tables", "Computed by queries, for the time span of the query.", DERIVED)
    yield from _part("Decoded log", "Written by `kgroups history dump`; not in a store.", (DECODED,))


def _part(title: str, text: str, tables: tuple[Table, ...]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"{text}\n"
    for table in tables:
        yield f"### {table.name}\n"
        yield fill(_text(table.doc), WIDTH, break_on_hyphens=False) + "\n"
        yield "| column | type | nullable | meaning |"
        yield "|---|---|---|---|"
        for column in table.columns:
            nullable = "no" if column.required else "yes"
            yield f"| `{column.name}` | `{column.type}` | {nullable} | {_text(column.doc)} |"
        yield ""


def _text(doc: str) -> str:
    """Return a docstring as Markdown: names with underscores are code, and not emphasis."""
    return _NAME.sub(lambda name: name[0] if name[0].startswith("`") else f"`{name[0]}`", doc).replace("|", r"\|")
