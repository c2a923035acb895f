"""Merge a store's entries, and delete old records, while other processes read and collect.

The merged entry replaces the old ones when it is in the manifest. Their files are deleted by a later call, after a
grace period: who began to read them before can finish.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from kgroups.errors import HistoryError

from ..load.manifest import COMPACTED, DataFile, Entry, Snapshot
from ..load.read import read_files
from ..load.store import GRACE, Store
from ..load.write import TableWriter, time_column
from ..session import root_cause
from ..tables import (
    ASSIGNMENTS,
    BASELINE,
    COMMITS,
    EPOCHS,
    GROUP_METADATA,
    MEMBERS,
    STORED,
    SWEEPS,
    Table,
    arrow_schema,
)

FILE_ROWS = 5_000_000
"""Approximate number of rows in a file of a large table."""

_LATEST_KEYS: dict[str, tuple[str, ...]] = {
    COMMITS.name: ("group", "topic", "partition"),
    GROUP_METADATA.name: ("group",),
    EPOCHS.name: ("group", "kind", "subject", "member_id"),
    MEMBERS.name: ("group", "kind"),
    ASSIGNMENTS.name: ("group", "kind", "role"),
}
"""Keys by which the latest record of a table is retained, whatever its age. A classic group writes all its members at
once. Newer group types write one member at a time, so all their records except tombstones are retained. Of other
tables, old rows are not needed."""


def compact(spark: SparkSession, store: Store, *, older_than: datetime | None = None, grace: timedelta = GRACE) -> int:
    """Merge all entries into one; return their number, 0 if there was nothing to do.

    :param older_than: delete rows before this time that are not needed for the current state. The last complete sweep
        is: only it may show that a group was deleted.
    :param grace: how long files that were replaced remain.
    :raises HistoryError: if the store cannot be read or written; it is then unchanged.
    """
    store.delete_replaced(grace)
    snapshot = store.snapshot()
    entries = snapshot.entries
    if (len(entries) < 2 and older_than is None) or not entries:
        return 0
    files: list[DataFile] = []
    try:
        sweep = _last_complete_sweep(spark, store, snapshot) if older_than else None
        for table in STORED:
            if found := snapshot.files(table):
                frame = read_files(spark, store, table, found)
                is_sweep = sweep and table in (BASELINE, SWEEPS)
                cutoff = min(older_than, sweep) if older_than and sweep and is_sweep else older_than
                files += _write(_retained(frame, table, cutoff) if cutoff else frame, store, table)
    except PySparkException as error:
        raise HistoryError(f"store {store.shown}: {root_cause(error)}; nothing was changed") from None
    undecoded = sum(entry.undecoded for entry in entries.values())
    merged = Entry(
        COMPACTED,
        tuple(files),
        snapshot.records,
        undecoded,
        snapshot.positions,
        tuple(sorted(entries)),
        expired=snapshot.expired_with(older_than),
    )

    def check(current: Snapshot) -> None:
        if not entries.keys() <= current.entries.keys():
            raise HistoryError(f"store {store.shown}: another process has merged it meanwhile; nothing was changed")

    store.commit(merged, check)
    return len(entries)


def _last_complete_sweep(spark: SparkSession, store: Store, snapshot: Snapshot) -> datetime | None:
    frames = (read_files(spark, store, table, snapshot.files(table)) for table in (BASELINE, SWEEPS))
    times = [frame.where("complete").agg(F.unix_micros(F.max("swept_at"))).first() for frame in frames]
    found = [row[0] for row in times if row and row[0] is not None]
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=max(found)) if found else None


def _write(frame: DataFrame, store: Store, table: Table) -> list[DataFile]:
    """Write rows to files by day, with all rows of a group in one file, sorted."""
    order = [
        name
        for name in ("group", "topic", "partition", "log_partition", "log_offset", "swept_at")
        if name in table.names
    ]
    day = F.coalesce(F.to_date(time_column(table)), F.to_date(F.lit("1970-01-01")))
    files = max(1, -(-frame.count() // FILE_ROWS))
    by = [F.col("group")] if files > 1 and "group" in table.names else []
    storage, cluster_id = store.storage, store.cluster

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(table)
        with TableWriter(storage, cluster_id) as writer:
            for batch in batches:
                writer.add(table, batch.cast(schema))
        for file in writer.files:
            yield pa.RecordBatch.from_pydict({"file": [json.dumps(file._asdict())]})

    rows = frame.withColumn("_day", day).repartition(files, "_day", *by).sortWithinPartitions("_day", *order)
    written = rows.select(*table.names).mapInArrow(write, "file string").collect()
    return [DataFile(**json.loads(row["file"])) for row in written]


def _retained(frame: DataFrame, table: Table, older_than: datetime) -> DataFrame:
    cutoff = F.lit(older_than)
    if table.name not in _LATEST_KEYS:
        return frame.where(F.col(time_column(table)) >= cutoff)
    keys = _LATEST_KEYS[table.name]
    newest = F.max("log_offset").over(Window.partitionBy("log_partition", *keys))
    is_current = (F.col("log_offset") == F.col("_newest")) & ~F.col("tombstone")
    if table.name in (MEMBERS.name, ASSIGNMENTS.name):
        is_current = is_current | ((F.col("kind") != "classic") & ~F.col("tombstone"))
    return frame.withColumn("_newest", newest).where((F.col("log_time") >= cutoff) | is_current).drop("_newest")
