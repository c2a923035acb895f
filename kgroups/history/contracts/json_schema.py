"""JSON Schemas of the tables, for rows as ``kgroups history show -o json`` prints them (``dump`` for ``decoded``).

Rule: a row has every column as a key, but a schema accepts more: a later version may add nullable columns without a new
schema version, as :mod:`kgroups.history.tables` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..tables import DECODED, SCHEMA_VERSION, STORED, Column, Table
from . import TABLES

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_TIME: Final = {"type": "string", "format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
_JSON: Final[Mapping[str, Mapping[str, Any]]] = {
    "smallint": {"type": "integer", "minimum": -(2**15), "maximum": 2**15 - 1},
    "int": {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    "bigint": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    "double": {"type": "number"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "binary": {"type": "string", "contentEncoding": "base16", "pattern": "^([0-9a-f]{2})*$"},
    "timestamp": _TIME,
}
"""Column type -> JSON Schema of a value."""

_PARQUET: Final = {
    "smallint": "INT32 INT(16, true)",
    "int": "INT32",
    "bigint": "INT64",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "string": "BYTE_ARRAY STRING",
    "binary": "BYTE_ARRAY",
    "timestamp": "INT64 TIMESTAMP(MICROS, true)",
}
"""Column type -> physical and logical type in Parquet."""


def row_schema(table: Table) -> dict[str, Any]:
    """Return the JSON Schema of a row of a table."""
    return {
        "$schema": DIALECT,
        "$id": f"urn:kgroups:history:{table.name}:v{SCHEMA_VERSION}",
        "title": table.name,
        "description": table.doc,
        "type": "object",
        "properties": {column.name: _property(table, column) for column in table.columns},
        "required": table.names,
        "x-source": source_of(table),
    }


def all_schemas() -> dict[str, Any]:
    """Return one JSON Schema with the schemas of all tables under ``$defs``."""
    defs = {name: row_schema(table) for name, table in TABLES.items()}
    return {"$schema": DIALECT, "$id": f"urn:kgroups:history:v{SCHEMA_VERSION}", "$defs": defs}


def source_of(table: Table) -> str:
    """Return where a table is: ``stored`` in the store, ``derived`` from it, or only ``dumped``."""
    if table == DECODED:
        return "dumped"
    return "stored" if table in STORED else "derived"


def parquet_type(column_type: str) -> str:
    """Return the physical and logical type in Parquet, in the terms of the Parquet specification."""
    element = _element(column_type)
    return _PARQUET[element] if element == column_type else f"LIST<{_PARQUET[element]}>"


def _element(column_type: str) -> str:
    return column_type.removeprefix("array<").removesuffix(">")


def _property(table: Table, column: Column) -> dict[str, Any]:
    element = _element(column.type)
    schema = dict(_JSON[element])
    if element == "binary" and table == DECODED:
        schema = {"type": "string", "contentEncoding": "base64"}
    if element != column.type:
        schema = {"type": "array", "items": schema}
    if not column.required:
        schema["type"] = [schema["type"], "null"]
    return {"description": column.doc, **schema, "x-type": column.type, "x-parquet-type": parquet_type(column.type)}
