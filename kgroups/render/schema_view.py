"""The view of ``kgroups schema``."""

from __future__ import annotations

from typing import NamedTuple

from .views import Align, Tier, View, columns_of


class SchemaRow(NamedTuple):
    """One schema; ``format`` is that of the output or file: ``json``, ``jsonl`` (each line), or ``toml``."""

    name: str
    format: str
    title: str


SCHEMAS = View(
    "schemas",
    "Schemas",
    columns_of(
        SchemaRow,
        ("NAME", "name", Align.LEFT, Tier.BASE, None),
        ("FORMAT", "format", Align.LEFT, Tier.BASE, None),
        ("DESCRIBES", "title", Align.LEFT, Tier.BASE, None),
    ),
    sort_key=lambda row: row[0],
)
