"""The store's tables as Spark DataFrames: only the files that the manifest names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from kgroups.errors import HistoryError

from ..arrow import arrow_schema
from ..tables import Table, ddl
from .manifest import DataFile
from .storage import Storage
from .store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_table(spark: SparkSession, store: Store, table: Table) -> DataFrame:
    """Return all rows of a table; an empty DataFrame with its schema if there are none yet."""
    return read_files(spark, store, table, store.snapshot().files(table))


def read_files(spark: SparkSession, store: Store, table: Table, files: Sequence[DataFile]) -> DataFrame:
    """Return the rows of files of a table.

    Spark reads files on this machine itself. Others are read by Arrow in its tasks, with the credentials of the store:
    Spark needs no jar, and no settings.
    """
    if not files:
        return spark.createDataFrame([], ddl(table))
    store.check_files(files)
    if store.storage.folder:
        return spark.read.schema(ddl(table)).parquet(*(store.storage.opened(file.path) for file in files))
    found = [(file.path, file.rows) for file in files]
    storage = store.storage

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield from read_rows(storage, table, *found[number])

    return spark.range(0, len(found), 1, min(len(found), 64)).mapInArrow(rows, ddl(table))


def read_rows(
    storage: Storage,
    table: Table,
    path: str,
    rows: int | None = None,
    names: Sequence[str] | None = None,
    row_groups: Callable[[pq.FileMetaData], list[int]] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, with the columns of the table; columns that it does not have are null.

    :param rows: number of rows that the manifest names.
    :param names: columns to read; default: all.
    :param row_groups: returns the row groups to read; default: all.
    :raises HistoryError: if it is not a Parquet file with such columns, and this number of rows.
    """
    wanted = table.names if names is None else list(names)
    schema = pa.schema([arrow_schema(table).field(name) for name in wanted])
    with storage.errors(path):
        file = pq.ParquetFile(storage.opened(path))
        if rows is not None and file.metadata.num_rows != rows:
            raise HistoryError(f"store {storage.shown}: {path} has {file.metadata.num_rows:,} rows, not {rows:,}")
        groups = row_groups(file.metadata) if row_groups else None
        for batch in file.iter_batches(row_groups=groups, columns=names):
            for name in wanted:
                if name not in batch.schema.names:
                    batch = batch.append_column(name, pa.nulls(batch.num_rows, schema.field(name).type))
            yield batch.select(wanted).cast(schema)
