"""The tables of history in Arrow and Parquet, for code that runs without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from .tables import Table

COMPRESSION = "zstd"
"""Compression of the Parquet files: commits take a third of the space of snappy, Spark's default, in the same time."""


def to_batch(table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Return a batch of rows, by column name; absent columns are null. Times may be microseconds since 1970."""
    schema = arrow_schema(table)
    arrays = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def arrow_schema(table: Table) -> pa.Schema:
    """Return the table's schema for Arrow."""
    types = {
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "smallint": pa.int16(),
        "boolean": pa.bool_(),
        "string": pa.string(),
        "binary": pa.binary(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "array<string>": pa.list_(pa.string()),
        "array<int>": pa.list_(pa.int32()),
        "array<bigint>": pa.list_(pa.int64()),
    }
    return pa.schema([(column.name, types[column.type]) for column in table.columns])


def to_ipc(rows: pa.Table) -> memoryview:
    """Return rows as a stream of Arrow's IPC format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return memoryview(sink.getvalue())


def open_parquet(file: Any, schema: pa.Schema) -> Any:
    """Open a file for rows as kgroups stores them: times and offsets as differences, because most of them grow."""
    import pyarrow.parquet as pq  # takes a tenth of a second

    grow = [field.name for field in schema if pa.types.is_int64(field.type) or pa.types.is_timestamp(field.type)]
    repeat = [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
        if field.name not in (*grow, "value")  # values of records differ
    ]
    encodings = dict.fromkeys(grow, "DELTA_BINARY_PACKED")
    return pq.ParquetWriter(file, schema, compression=COMPRESSION, use_dictionary=repeat, column_encoding=encodings)
