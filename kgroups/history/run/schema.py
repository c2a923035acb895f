"""``kgroups history schema``: the contracts of the tables."""

from __future__ import annotations

import json
from typing import Any

import click

from kgroups.errors import UsageError

from ..contracts import TABLES
from ..contracts.dictionary import dictionary
from ..contracts.json_schema import all_schemas, row_schema


def schema(table: str | None, form: str) -> int:
    """Run ``kgroups history schema``; return the exit code."""
    if table is not None and table not in TABLES:
        raise UsageError(f"unknown table {table!r}; use one of {', '.join(TABLES)}")
    if form == "markdown":
        if table is not None:
            raise UsageError("--format markdown is for all tables; omit TABLE")

        click.echo(dictionary(), nl=False)
        return 0
    click.echo(json.dumps(_schema(table), indent=2, ensure_ascii=False))
    return 0


def _schema(name: str | None) -> dict[str, Any]:
    return all_schemas() if name is None else row_schema(TABLES[name])
