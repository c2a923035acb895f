"""Write a micro-batch of decoded records to the store, idempotently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..decode import FILLED_FROM, split_table
from ..extract.source import RANGE
from ..tables import COMMITS, COVERAGE, RECORDS, STORED, UNDECODED, Table, ddl
from .store import BATCH, COMPRESSION, Entry, Store

_IS_RANGE = -1
"""Stands for range rows where record types are counted."""
_RANGE_BODY = (
    "struct<from_offset:bigint,to_offset:bigint,records:bigint,first_time:bigint,last_time:bigint,"
    "last_stable_offset:bigint,high_watermark:bigint,compacted:bigint,compacted_to:bigint,whole_since:bigint,"
    "unread_since:bigint>"
)


def entry_name(batch: int) -> str:
    """Return the name of a micro-batch in the manifest; names sort as the numbers do."""
    return f"{BATCH}{batch:08}"


def write_batch(decoded: DataFrame, batch: int, store: Store) -> None:
    """Write a batch of ``foreachBatch``.

    With Spark Connect this runs on the server, so the driver learns of the batch from the store only.
    """
    write_entry(decoded, entry_name(batch), store)


def write_entry(decoded: DataFrame, name: str, store: Store) -> Entry | None:
    """Split rows of table ``decoded``, with their range rows, into the stored tables, and write those with rows.

    The directories are written first and the manifest last: after a kill in between, the directories are ignored, and
    the batch is repeated under the same name. Writes nothing and returns ``None`` if the manifest has this entry, or a
    compacted one that replaces it.
    """
    if store.holds(name):
        return None
    decoded = decoded.persist()
    try:
        counts = _counts(decoded)
        tables = dict(_tables(decoded, counts))
        # In parallel: the jobs are small, and Spark mostly waits.
        with ThreadPoolExecutor(max(1, len(tables))) as pool:
            jobs = [pool.submit(_write, frame, store.folder(t.name, name), t) for t, frame in tables.items()]
        for job in jobs:
            job.result()
    finally:
        decoded.unpersist()
    records = sum(number for record_type, number in counts.items() if record_type != _IS_RANGE)
    entry = Entry(name, tuple(table.name for table in tables), records, undecoded=counts.get(None, 0))
    store.commit(entry)
    return entry


def _counts(decoded: DataFrame) -> dict[int | None, int]:
    """Count the rows by record type, with :data:`_IS_RANGE` for range rows and ``None`` for undecoded records."""
    record_type = F.when(F.col("record_name") == RANGE, F.lit(_IS_RANGE)).when(
        F.col("error").isNull(), F.col("record_type")
    )
    return {row["type"]: row["count"] for row in decoded.groupBy(record_type.alias("type")).count().collect()}


def _tables(decoded: DataFrame, counts: Mapping[int | None, int]) -> Iterator[tuple[Table, DataFrame]]:
    """Yield the tables that may have rows. Records without another table are in ``undecoded``."""
    commits = FILLED_FROM[COMMITS.name]
    is_range = F.coalesce(F.col("record_name") == RANGE, F.lit(False))
    is_commit = F.coalesce(F.col("record_type").isin(*commits) & F.col("error").isNull(), F.lit(False))
    record_types = counts.keys() - {_IS_RANGE}
    if record_types:
        yield RECORDS, decoded.where(~is_range).select(*RECORDS.names)
    if record_types & commits:
        yield COMMITS, decoded.where(is_commit).select(*COMMITS.names)
    if _IS_RANGE in counts:
        yield COVERAGE, _coverage(decoded.where(is_range))
    others = decoded.where(~is_range & ~is_commit)
    filled = {name for name, types in FILLED_FROM.items() if record_types & types} - {COMMITS.name}
    if record_types - frozenset().union(*FILLED_FROM.values()):
        filled.add(UNDECODED.name)
    for table in STORED:
        if table.name in filled:
            yield table, others.mapInArrow(split_table(table.name), ddl(table))


def _coverage(ranges: DataFrame) -> DataFrame:
    body = ranges.select("log_partition", F.from_json("body", _RANGE_BODY).alias("body"))
    found = body.select("log_partition", "body.*")
    return (
        found.withColumn("sampled_at", F.current_timestamp())
        .withColumn("first_time", F.timestamp_micros("first_time"))
        .withColumn("last_time", F.timestamp_micros("last_time"))
        .withColumn("whole_since", F.timestamp_micros("whole_since"))
        .withColumn("unread_since", F.timestamp_micros("unread_since"))
        .select(*COVERAGE.names)
    )


def _write(frame: DataFrame, folder: str, table: Table) -> None:
    large = table in (RECORDS, COMMITS)
    (frame if large else frame.coalesce(1)).write.mode("overwrite").parquet(folder, compression=COMPRESSION)
