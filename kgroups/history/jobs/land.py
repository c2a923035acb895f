"""Land records of ``__consumer_offsets`` from Parquet files of another program in a store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from kgroups.errors import HistoryError

from ..arrow import to_batch
from ..extract.ranges import Range, subtract
from ..hosts import AS_STORED, ClientHosts, GivenHosts
from ..load.manifest import LANDED
from ..load.read import read_table
from ..load.records import Written, entry_of, write_records
from ..load.storage import Storage
from ..load.store import UNNAMED_FOR, Store, TooLate
from ..load.tasks import check_visible
from ..session import root_cause
from ..suspended import elapsed
from ..tables import COVERAGE, RECORDS

COLUMNS = {
    "partition": "log_partition",
    "offset": "log_offset",
    "timestamp": "log_time",
    "key": "key",
    "value": "value",
}
"""Column in the files, as named by Kafka's connectors and Spark's Kafka source -> column in :data:`RECORDS`."""


def land(spark: SparkSession, store: Store, path: str, given: GivenHosts = AS_STORED) -> int:
    """Decode the records under ``path`` into the store; return the number of new records.

    Records that the store already contains are omitted: landing a path again adds nothing. Each partition counts as
    read from the first to the last offset in the files, except for ranges that the store covers.

    :param given: the salt, if the store hashes client hosts.
    :raises HistoryError: if there is no store, or the path does not contain such records.
    """
    cluster_id, identity = store.cluster, store.identity()
    hosts = given.for_store(store.shown, identity.client_hosts, identity.salt_id)
    try:
        check_visible(spark, store, lambda line: None)
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
        began = elapsed()
        write = partial(_write, store.storage, cluster_id, hosts)
        results = [
            Written.of_json(json.loads(row["result"])) for row in new.mapInArrow(write, "result string").collect()
        ]
        with store.writer() as writer:
            writer.add(COVERAGE, _coverage(spark, new, read_table(spark, store, COVERAGE)))
        return store.commit(entry_of(LANDED, results, writer.files), began=began).records
    except TooLate:
        raise HistoryError(
            f"{path}: this took longer than {UNNAMED_FOR}; nothing was landed; land fewer files at once"
        ) from None
    except (PySparkException, Py4JError) as error:
        raise HistoryError(f"{path} cannot be landed: {root_cause(error)}") from None


def _column(landed: DataFrame, name: str) -> Column:
    column = F.col(name)
    if name == "timestamp" and dict(landed.dtypes)[name] in ("bigint", "long"):
        column = F.timestamp_millis(column)  # the unit of Kafka's timestamps
    types = {entry.name: entry.type for entry in RECORDS.columns}
    return column.cast(types[COLUMNS[name]]).alias(COLUMNS[name])


def _write(
    storage: Storage, cluster_id: str, hosts: ClientHosts, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    result = write_records(storage, cluster_id, batches, hosts)
    yield pa.RecordBatch.from_pydict({"result": [json.dumps(result.to_json())]})


def _coverage(spark: SparkSession, records: DataFrame, covered: DataFrame) -> pa.RecordBatch:
    """Return the landed ranges, without ranges that the store covers: no two ranges overlap."""
    ends = records.groupBy("log_partition").agg(F.min("log_offset"), F.max("log_offset") + 1).collect()
    known = covered.select("log_partition", "from_offset", "to_offset").collect()
    pieces = subtract((Range(*row) for row in ends), (Range(*row) for row in known))
    if not pieces:
        return to_batch(COVERAGE, [])
    ranges = F.broadcast(spark.createDataFrame(pieces, "log_partition int, from_offset bigint, to_offset bigint"))
    is_inside = (F.col("log_offset") >= F.col("from_offset")) & (F.col("log_offset") < F.col("to_offset"))
    inside = records.join(ranges, "log_partition").where(is_inside)
    found = inside.groupBy("log_partition", "from_offset", "to_offset").agg(
        F.count("*").alias("records"),
        F.unix_micros(F.min("log_time")).alias("first_time"),
        F.unix_micros(F.max("log_time")).alias("last_time"),
    )
    filled = {(row["log_partition"], row["from_offset"]): row.asDict() for row in found.collect()}
    empty = {"records": 0, "sampled_at": datetime.now(UTC)}
    rows = [
        {"log_partition": piece.partition, "from_offset": piece.start, "to_offset": piece.stop}
        | empty
        | filled.get((piece.partition, piece.start), {})
        for piece in pieces
    ]
    return to_batch(COVERAGE, rows)
