"""Takes records of ``__consumer_offsets`` that something else has landed as Parquet: the third way into a store."""

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
from ..session import reason
from ..tables import DECODED, RECORDS, ddl

COLUMNS = {
    "partition": "log_partition",
    "offset": "log_offset",
    "timestamp": "log_time",
    "key": "key",
    "value": "value",
}
"""What the landed columns are called, as Kafka's connectors and Spark's own source call them; and what here."""


def land(spark: SparkSession, store: Store, path: str) -> int:
    """Decodes the records below ``path`` into the store; gives how many were new.

    What the store has already is left out, so that the same path a second time brings nothing. Records of such a path
    count as read from its first offset of each partition to its last.

    :raises HistoryError: when there is no store, or the path does not hold such records.
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
        fresh = records.join(read_table(spark, store, RECORDS).select(*place), place, "left_anti").select(
            *RECORDS.names
        )
        fresh = fresh.persist()
        if fresh.isEmpty():
            return 0
        decoded = fresh.mapInArrow(_decode, ddl(DECODED)).unionByName(_ranges(fresh), allowMissingColumns=True)
        entry = f"landed-{hashlib.sha256(path.encode()).hexdigest()[:16]}-{len(store.entries()):06}"
        written = write_entry(decoded.select(*DECODED.names), entry, store)
        return written.records if written else 0
    except PySparkException as error:
        raise HistoryError(f"{path} cannot be landed: {reason(error)}") from None


def _column(landed: DataFrame, name: str) -> Column:
    column = F.col(name)
    if name == "timestamp" and dict(landed.dtypes)[name] in ("bigint", "long"):
        column = F.timestamp_millis(column)  # as Kafka counts
    types = {entry.name: entry.type for entry in RECORDS.columns}
    return column.cast(types[COLUMNS[name]]).alias(COLUMNS[name])


def _decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return map(decode_batch, batches)


def _ranges(records: DataFrame) -> DataFrame:
    """The row that a reader adds for each range that it read."""
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
