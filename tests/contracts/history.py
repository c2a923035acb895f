"""The schemas of the tables of history: from their definitions in :mod:`kgroups.history`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kgroups.history.contracts import TABLES
from kgroups.history.contracts.json_schema import row_schema
from kgroups.history.tables import DECODED

from .tables import WHEN
from .values import Schema, document, envelope, text

_MORE = {"has_more": {"type": "boolean", "description": "Only with --untrusted: whether the result has more rows."}}
_CLUSTER = text("ID of the cluster; only with --all-clusters.", **{WHEN: "--all-clusters"})


def history() -> Iterator[Schema]:
    """Yield the schema of ``history show`` for each table, of ``sql``, and of the lines of ``dump``."""
    for table in TABLES.values():
        properties = {column: _plain(schema) for column, schema in row_schema(table)["properties"].items()}
        if table == DECODED:
            title = "kgroups history dump: the decoded log; one line per record"
            row = _row(title, properties) | {"required": list(properties)}
            yield document(f"history-{table.name}", 1, title, "jsonl", row)
            continue
        title = f"kgroups history show {table.name}: {table.doc.split('. ')[0].rstrip('.')}"
        row = _row(title, {"cluster_id": _CLUSTER, **properties})
        yield document(f"history-{table.name}", 1, title, "json", envelope(f"history-{table.name}", row))
    title = "kgroups history sql: rows of a query; their keys are the columns of the query"
    row = {"type": "object", "description": title}
    yield document("history-sql", 1, title, "json", envelope("history-sql", row, more=_MORE))


def _row(title: str, properties: dict[str, Any]) -> Schema:
    return {"type": "object", "description": title, "properties": properties, "additionalProperties": False}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in schema.items() if not key.startswith("x-")}
    if "null" in found.get("type", ()) and "null" not in found["description"].lower():
        found["description"] += " Null: unknown, or absent."
    return found
