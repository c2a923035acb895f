"""The view of ``kgroups schema``."""

from __future__ import annotations

from typing import NamedTuple

from .views import Column, View, columns_of


class SchemaRow(NamedTuple):
    """One schema; ``format`` is the format of the output or file: ``json``, ``jsonl`` (each line), or ``toml``."""

    name: str
    format: str
    title: str


SCHEMAS = View(
    "schemas",
    "Schemas",
    columns_of(
        SchemaRow,
        Column("NAME", "name", "Name of the schema, with its version."),
        Column("FORMAT", "format", "json: a document; jsonl: one line of several; toml: a file, as parsed."),
        Column("DESCRIBES", "title", "What the schema describes."),
    ),
    sort_key=lambda row: row[0],
)
