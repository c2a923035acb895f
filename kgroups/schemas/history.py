"""The schemas of history, from the definitions of its tables."""

from __future__ import annotations

from typing import Any, Final

from kgroups.history.contracts import TABLES
from kgroups.history.contracts.json_schema import row_schema
from kgroups.history.verify.result import MEANINGS, Check

from .compose import envelope
from .definitions import fields_of
from .values import Schema, text
from .views import WHEN, described_value, row_item

_CLUSTER: Final = text("ID of the cluster; only with --all-clusters.", **{WHEN: "--all-clusters"})
_MORE: Final = {
    "has_more": {"type": "boolean", "description": "Only with --untrusted: whether the result has more rows."}
}


def shown(table: str, title: str) -> Schema:
    """Return the schema of ``history show TABLE``."""
    row = _row(title, {"cluster_id": _CLUSTER, **_properties(table)})
    return envelope(f"history-{table}", row)


def dumped(table: str, title: str) -> Schema:
    """Return the schema of a line of ``history dump``."""
    properties = _properties(table)
    return _row(title, properties) | {"required": list(properties)}


def queried(title: str) -> Schema:
    """Return the schema of ``history sql``."""
    return envelope("history-sql", {"type": "object", "description": title}, more=_MORE)


def tested(title: str) -> Schema:
    """Return the schema of ``history test``."""
    types = fields_of(Check)
    row = {key: {**value, "description": described_value(MEANINGS[key], value)} for key, value in types.items()}
    return envelope("history-test", row_item(title, row))


def _row(title: str, properties: dict[str, Any]) -> Schema:
    return {"type": "object", "description": title, "properties": properties, "additionalProperties": False}


def _properties(table: str) -> dict[str, Any]:
    return {column: _plain(schema) for column, schema in row_schema(TABLES[table])["properties"].items()}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in schema.items() if not key.startswith("x-")}
    if "null" in found.get("type", ()) and "null" not in found["description"].lower():
        found["description"] += " Null: unknown, or absent."
    return found
