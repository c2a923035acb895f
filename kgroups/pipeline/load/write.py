"""A micro-batch of decoded records into the store, so that doing it twice is doing it once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..decode import split_table
from ..extract.source import RANGE
from ..tables import (
    ASSIGNMENTS,
    COMMITS,
    COVERAGE,
    EPOCHS,
    GROUP_METADATA,
    MEMBERS,
    RECORDS,
    UNDECODED,
    Table,
    ddl,
)
from .store import Entry, Store

_COMMIT_TYPES = (0, 1)
_FILLED_FROM: dict[Table, frozenset[int]] = {
    GROUP_METADATA: frozenset({2}),
    MEMBERS: frozenset({2, 5, 10, 19}),
    ASSIGNMENTS: frozenset({2, 7, 8, 13, 14, 21, 22}),
    EPOCHS: frozenset({3, 6, 8, 11, 12, 14, 17, 20, 22}),
}
"""The record types that may have rows in a table: what has none in a batch is not written. All else is undecoded."""
_IS_RANGE = -1
_RANGE_BODY = (
    "struct<from_offset:bigint,to_offset:bigint,records:bigint,first_time:bigint,last_time:bigint,"
    "last_stable_offset:bigint,high_watermark:bigint>"
)


def entry_name(batch: int) -> str:
    """Of a micro-batch in the manifest; sorts as the numbers do."""
    return f"batch-{batch:08}"


class Written(NamedTuple):
    """How many records a batch had, and how many of them could not be decoded."""

    records: int = 0
    undecoded: int = 0


def write_batch(decoded: DataFrame, batch: int | str, store: Store) -> Written:
    """Takes rows of table ``decoded`` with their range rows apart, and writes each table that has any.

    The folders are written first and the manifest last: a kill in between leaves folders that nobody reads, and the
    batch comes again under the same number. Nothing is written where a compacted entry already stands for this batch.
    """
    name = entry_name(batch) if isinstance(batch, int) else batch
    if store.holds(name):
        return Written()
    decoded = decoded.persist()
    try:
        counts = _counts(decoded)
        tables = dict(_tables(decoded, counts))
        with ThreadPoolExecutor(
            max(1, len(tables))
        ) as pool:  # small jobs: one after the other, Spark would mostly wait
            jobs = [pool.submit(_write, frame, store.folder(t.name, name), t) for t, frame in tables.items()]
        for job in jobs:
            job.result()
    finally:
        decoded.unpersist()
    records = sum(number for kind, number in counts.items() if kind != _IS_RANGE)
    store.commit(Entry(name, tuple(table.name for table in tables), records))
    return Written(records, counts.get(None, 0))


def _counts(decoded: DataFrame) -> dict[int | None, int]:
    """How many rows of each record type, of :data:`_IS_RANGE`, and of None for those that could not be decoded."""
    kind = F.when(F.col("record_name") == RANGE, F.lit(_IS_RANGE)).when(F.col("error").isNull(), F.col("record_type"))
    return {row["kind"]: row["count"] for row in decoded.groupBy(kind.alias("kind")).count().collect()}


def _tables(decoded: DataFrame, counts: Mapping[int | None, int]) -> Iterator[tuple[Table, DataFrame]]:
    is_range = F.coalesce(F.col("record_name") == RANGE, F.lit(False))
    is_commit = F.coalesce(F.col("record_type").isin(*_COMMIT_TYPES) & F.col("error").isNull(), F.lit(False))
    kinds = counts.keys() - {_IS_RANGE}
    if kinds:
        yield RECORDS, decoded.where(~is_range).select(*RECORDS.names)
    if kinds & set(_COMMIT_TYPES):
        yield COMMITS, decoded.where(is_commit).select(*COMMITS.names)
    if _IS_RANGE in counts:
        yield COVERAGE, _coverage(decoded.where(is_range))
    others = decoded.where(~is_range & ~is_commit)
    homeless = kinds - set(_COMMIT_TYPES).union(*_FILLED_FROM.values())
    wanted = [table for table, types in _FILLED_FROM.items() if kinds & types]
    for table in (*wanted, UNDECODED) if homeless else wanted:
        yield table, others.mapInArrow(split_table(table.name), ddl(table))


def _coverage(ranges: DataFrame) -> DataFrame:
    body = ranges.select("log_partition", F.from_json("body", _RANGE_BODY).alias("body"))
    found = body.select("log_partition", "body.*")
    return (
        found.withColumn("sampled_at", F.current_timestamp())
        .withColumn("first_time", F.timestamp_micros("first_time"))
        .withColumn("last_time", F.timestamp_micros("last_time"))
        .select(*COVERAGE.names)
    )


def _write(frame: DataFrame, folder: str, table: Table) -> None:
    large = table in (RECORDS, COMMITS)
    (frame if large else frame.coalesce(1)).write.mode("overwrite").parquet(folder)
