"""Land records of ``__consumer_offsets`` from Parquet files of another program in a store."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from kgroups.errors import HistoryError

from ..decode import decode_batch
from ..extract.source import RANGE
from ..load.read import read_table
from ..load.store import Store
from ..load.write import write_entry
from ..session import root_cause
from ..tables import DECODED, RECORDS, ddl

COLUMNS = {
    "partition": "log_partition",
    "offset": "log_offset",
    "timestamp": "log_time",
    "key": "key",
    "value": "value",
}
"""Column in the files, as named by Kafka's connectors and Spark's Kafka source -> column in :data:`RECORDS`."""


def land(spark: SparkSession, store: Store, path: str) -> int:
    """Decode the records under ``path`` into the store; return the number of new records.

    Records that the store already contains are omitted: landing a path again adds nothing. Each partition counts as
    read from the first to the last offset in the files.

    :raises HistoryError: if there is no store, or the path does not contain such records.
    """
    store.identity()
    try:
        landed = spark.read.parquet(path)
        missing = [name for name in COLUMNS if name not in landed.columns]
        if missing:
            raise HistoryError(f"{path} has no column {', '.join(missing)}; there are {', '.join(landed.columns)}")
        records = landed.select(*(_column(landed, name) for name in COLUMNS)).dropDuplicates(
            ["log_partition", "log_offset"]
        )
        place = ["log_partition", "log_offset"]
        stored = read_table(spark, store, RECORDS).select(*place)
        new = records.join(stored, place, "left_anti").select(*RECORDS.names).persist()
        if new.isEmpty():
            return 0
        decoded = new.mapInArrow(_decode, ddl(DECODED)).unionByName(_ranges(new), allowMissingColumns=True)
        entry = f"landed-{hashlib.sha256(path.encode()).hexdigest()[:16]}-{len(store.entries()):06}"
        written = write_entry(decoded.select(*DECODED.names), entry, store)
        return written.records if written else 0
    except PySparkException as error:
        raise HistoryError(f"{path} cannot be landed: {root_cause(error)}") from None


def _column(landed: DataFrame, name: str) -> Column:
    column = F.col(name)
    if name == "timestamp" and dict(landed.dtypes)[name] in ("bigint", "long"):
        column = F.timestamp_millis(column)  # the unit of Kafka's timestamps
    types = {entry.name: entry.type for entry in RECORDS.columns}
    return column.cast(types[COLUMNS[name]]).alias(COLUMNS[name])


def _decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return map(decode_batch, batches)


def _ranges(records: DataFrame) -> DataFrame:
    """Return the range rows that a reader would add: one for each partition."""
    found = records.groupBy("log_partition").agg(
        F.min("log_offset").alias("from_offset"),
        (F.max("log_offset") + 1).alias("to_offset"),
        F.count("*").alias("records"),
        F.unix_micros(F.min("log_time")).alias("first_time"),
        F.unix_micros(F.max("log_time")).alias("last_time"),
    )
    body = F.to_json(F.struct("from_offset", "to_offset", "records", "first_time", "last_time"))
    return found.select(
        "log_partition",
        F.col("to_offset").alias("log_offset"),
        F.lit(RANGE).alias("record_name"),
        F.lit(False).alias("tombstone"),
        body.alias("body"),
    )
