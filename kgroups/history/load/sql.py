"""The store's files in DuckDB: connection, types, and the rows of files of a table."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from datetime import datetime

import duckdb

from ..tables import Table

_SETTINGS = {
    "TimeZone": "UTC",
    "preserve_insertion_order": "false",
    "autoinstall_known_extensions": "false",  # never from the network
}
_TYPES = {"timestamp": "timestamptz", "binary": "blob"}
"""Types of :mod:`kgroups.history.tables` that DuckDB calls otherwise."""


def connect(folder: str, **settings: str) -> duckdb.DuckDBPyConnection:
    """Open a database in memory, which spills to a directory.

    :param settings: of DuckDB, in addition to the settings of all connections.
    :raises duckdb.Error, OSError: if DuckDB does not start.
    """
    connection = duckdb.connect()
    for name, value in (_SETTINGS | settings | {"temp_directory": folder}).items():
        connection.execute(f"set {name} = {sql_text(value)}")
    return connection


def rows_of_files(table: Table, paths: Iterable[str]) -> str:
    """Return a query for the rows of files on this machine; columns that a file does not have are null."""
    columns = ", ".join(f"cast(null as {sql_type(column.type)}) as `{column.name}`" for column in table.columns)
    none = f"select {columns} where false"
    names = ", ".join(sql_text(glob.escape(path)) for path in paths)
    if not names:
        return none
    # The date in a path is not a column.
    read = f"select * from read_parquet([{names}], union_by_name = true, hive_partitioning = false)"
    selected = ", ".join(f"`{name}`" for name in table.names)
    return f"select {selected} from ({none} union all by name {read}) as files"


def sql_type(spark_type: str) -> str:
    """Return the type of a column."""
    element = spark_type.removeprefix("array<").removesuffix(">")
    name = _TYPES.get(element, element)
    return name if element == spark_type else f"{name}[]"


def sql_text(value: str) -> str:
    """Return a text as a literal."""
    return "'" + value.replace("'", "''") + "'"


def sql_literal(value: datetime | str | int | float | None) -> str:
    """Return a value as a literal."""
    if isinstance(value, datetime):
        return f"timestamptz '{value.isoformat(sep=' ')}'"
    return sql_text(value) if isinstance(value, str) else "null" if value is None else str(value)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
