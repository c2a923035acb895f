"""The store's tables as Spark DataFrames: only the entries in the manifest."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from ..tables import COMMITS, STORED, Table, ddl
from .store import Entry, Store


def read_table(spark: SparkSession, store: Store, table: Table) -> DataFrame:
    """Return all rows of a table; an empty DataFrame with its schema if there are none yet."""
    return _frame(spark, table, store.folders(table.name))


def read_tables(spark: SparkSession, store: Store) -> dict[str, DataFrame]:
    """Return every table of the store, by name."""
    entries = store.entries()  # read once: each entry is a file
    return {table.name: _frame(spark, table, _folders(store, table, entries)) for table in STORED}


def read_entries(spark: SparkSession, store: Store, table: Table, entries: Iterable[Entry]) -> DataFrame | None:
    """Return the rows of a table in these entries; ``None`` if there are none."""
    folders = _folders(store, table, entries)
    return _frame(spark, table, folders) if folders else None


def committed_partitions(spark: SparkSession, store: Store, entries: Iterable[Entry]) -> list[tuple[str, int]]:
    """Return every (topic, partition) with a commit in these entries."""
    rows = _frame(spark, COMMITS, _folders(store, COMMITS, entries)).select("topic", "partition").distinct().collect()
    return [(row["topic"], row["partition"]) for row in rows if row["topic"] is not None]


def _folders(store: Store, table: Table, entries: Iterable[Entry]) -> list[str]:
    return [store.folder(table.name, entry.name) for entry in entries if table.name in entry.tables]


def _frame(spark: SparkSession, table: Table, folders: list[str]) -> DataFrame:
    if not folders:
        return spark.createDataFrame([], ddl(table))
    return spark.read.schema(ddl(table)).parquet(*folders)
