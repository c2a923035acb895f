"""Schemas of the data sources in Spark: columns with comments, nullability, and the options of a table in a catalog.

Spark does not pass the options of ``CREATE TABLE … USING`` to a Python data source when it reads the table (pyspark
4.3.0), but it passes the schema that the source returned at ``CREATE TABLE``, with the metadata of the columns. So
these options are in the metadata of the first column. They contain no secrets: those are never options.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

from kgroups.errors import HistoryError, UsageError
from kgroups.model.counts import count

from .arrow import arrow_schema
from .tables import Column, Table

STORED_OPTIONS = "kgroups.options"
"""Key of the metadata with the options of ``CREATE TABLE``, as JSON."""

_TYPES = {"smallint": "short", "int": "integer", "bigint": "long"}
"""Types of :mod:`kgroups.history.tables` that Spark's JSON of schemas calls otherwise."""


def struct_type(
    table: Table, names: Sequence[str] | None = None, stored: Mapping[str, str] | None = None
) -> StructType:
    """Return the schema of a table, or of some of its columns.

    :param stored: options of ``CREATE TABLE``, to be returned by :func:`stored_options`.
    """
    columns = {column.name: column for column in table.columns}
    fields = [_field(columns[name]) for name in names or table.names]
    if stored:
        fields[0]["metadata"][STORED_OPTIONS] = json.dumps(stored)
    # fromJson, as a DDL text has no metadata, and can be parsed only with a session.
    return StructType.fromJson({"type": "struct", "fields": fields})


def _field(column: Column) -> dict[str, Any]:
    element = column.type.removeprefix("array<").removesuffix(">")
    kind: Any = _TYPES.get(element, element)
    if element != column.type:
        kind = {"type": "array", "elementType": kind, "containsNull": True}
    return {"name": column.name, "type": kind, "nullable": not column.required, "metadata": {"comment": column.doc}}


def stored_options(schema: StructType) -> dict[str, str]:
    """Return the options of ``CREATE TABLE``; empty if the schema is not from a catalog."""
    stored: dict[str, str] = json.loads(schema[0].metadata.get(STORED_OPTIONS, "{}")) if len(schema) else {}
    return stored


def select_columns(source: str, table: Table, schema: StructType) -> pa.Schema:
    """Return the Arrow schema of the rows that Spark expects: all columns of the table, or some, in any order.

    :raises UsageError: if the schema, which users may specify, has other columns or types.
    """
    columns = {column.name.lower(): column for column in table.columns}
    ours = arrow_schema(table)
    fields = []
    for field in schema:
        column = columns.get(field.name.lower())
        if column is None:
            raise unknown_column(source, table, field.name)
        if field.dataType.simpleString() != column.type:
            raise UsageError(
                f"{source}: column {field.name} of table {table.name} has type {column.type}, "
                f"not {field.dataType.simpleString()}; change the schema, or omit it"
            )
        fields.append(ours.field(column.name).with_nullable(field.nullable))
    return pa.schema(fields)


def unknown_column(source: str, table: Table, name: str) -> UsageError:
    """Return the error of a column that the table does not have."""
    similar = get_close_matches(name.lower(), table.names, n=1)
    fix = f"use {similar[0]}" if similar else f"its columns are {', '.join(table.names)}"
    return UsageError(f"{source}: table {table.name} has no column {name!r}; {fix}")


def conform(source: str, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the columns of the schema; Spark requires the nullability of its own schema.

    :raises HistoryError: if a column that is not nullable has a null, which Spark would read as another value.
    """
    for batch in batches:
        columns = [batch.column(name) for name in schema.names]
        for field, column in zip(schema, columns, strict=True):
            if not field.nullable and column.null_count:
                raise HistoryError(
                    f"{source}: column {field.name} has {count(column.null_count, 'null')}, but is NOT NULL; "
                    "use a schema in which it is nullable"
                )
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
