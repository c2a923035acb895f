"""The store's tables as Spark sees them: only what the manifest says is whole."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from ..tables import COMMITS, STORED, Table, ddl
from .store import Entry, Store


def read_table(spark: SparkSession, store: Store, table: Table) -> DataFrame:
    """All rows of a table; none, with its schema, where there are none yet."""
    return _frame(spark, table, store.folders(table.name))


def read_tables(spark: SparkSession, store: Store) -> dict[str, DataFrame]:
    """Every table of the store, by name."""
    entries = store.entries()  # once for all: each is a file
    return {table.name: _frame(spark, table, _folders(store, table, entries)) for table in STORED}


def read_entries(spark: SparkSession, store: Store, table: Table, entries: Iterable[Entry]) -> DataFrame | None:
    """The rows that these entries have of a table; None where they have none."""
    folders = _folders(store, table, entries)
    return _frame(spark, table, folders) if folders else None


def committed_partitions(spark: SparkSession, store: Store, entries: Iterable[Entry]) -> list[tuple[str, int]]:
    """Every (topic, partition) that was committed on in these entries."""
    rows = _frame(spark, COMMITS, _folders(store, COMMITS, entries)).select("topic", "partition").distinct().collect()
    return [(row["topic"], row["partition"]) for row in rows if row["topic"] is not None]


def _folders(store: Store, table: Table, entries: Iterable[Entry]) -> list[str]:
    return [store.folder(table.name, entry.name) for entry in entries if table.name in entry.tables]


def _frame(spark: SparkSession, table: Table, folders: list[str]) -> DataFrame:
    if not folders:
        return spark.createDataFrame([], ddl(table))
    return spark.read.schema(ddl(table)).parquet(*folders)
