"""Merge a store's entries, and delete old records, while other processes read and collect.

The merged entry replaces the old ones when it is in the manifest; then the old ones are deleted. The newest batch is
left alone: after a crash, Spark may write it again.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from kgroups.errors import HistoryError

from ..load.read import read_entries
from ..load.store import BATCH, COMPRESSION, Entry, Store
from ..session import root_cause
from ..tables import (
    ASSIGNMENTS,
    BASELINE,
    COMMITS,
    COVERAGE,
    EPOCHS,
    GROUP_METADATA,
    HEADS,
    MEMBERS,
    RECORDS,
    STORED,
    SWEEPS,
    UNDECODED,
    Table,
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
once. Newer group types write one member at a time, so all their records except tombstones are retained."""

_TIMES = {HEADS.name: "sampled_at", COVERAGE.name: "sampled_at", BASELINE.name: "swept_at", SWEEPS.name: "swept_at"}
_BY_TIME = frozenset({RECORDS.name, UNDECODED.name, *_TIMES})


def compact(spark: SparkSession, store: Store, *, older_than: datetime | None = None) -> int:
    """Merge all entries but the newest batch into one; return their number, 0 if there was nothing to do.

    :param older_than: delete rows before this time that are not needed for the current state. The last complete sweep
        is: only it may show that a group was deleted.
    :raises HistoryError: if the store cannot be read or written; it is then unchanged.
    """
    store.identity()
    entries = _mergeable(store.entries())
    if (len(entries) < 2 and older_than is None) or not entries:
        return 0
    name = f"compact-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    tables = []
    try:
        sweep = _last_complete_sweep(spark, store, entries) if older_than else None
        for table in STORED:
            frame = read_entries(spark, store, table, entries)
            if frame is not None:
                is_sweep = sweep and table in (BASELINE, SWEEPS)
                cutoff = min(older_than, sweep) if older_than and sweep and is_sweep else older_than
                retained = _retained(frame, table, cutoff) if cutoff else frame
                _write(retained, store, table, name)
                tables.append(table.name)
    except PySparkException as error:
        raise HistoryError(f"store {store.shown}: {root_cause(error)}; nothing was changed") from None
    replaced = tuple(entry.name for entry in entries)
    entry = Entry(name, tuple(tables), sum(entry.records for entry in entries), replaced)
    store.commit(entry)
    with contextlib.suppress(OSError):  # files that cannot be deleted are no longer read
        store.delete_replaced(entry)
    return len(entries)


def _mergeable(entries: list[Entry]) -> list[Entry]:
    newest = max((entry.name for entry in entries if entry.name.startswith(BATCH)), default=None)
    return [entry for entry in entries if entry.name != newest]


def _last_complete_sweep(spark: SparkSession, store: Store, entries: list[Entry]) -> datetime | None:
    frames = (read_entries(spark, store, table, entries) for table in (BASELINE, SWEEPS))
    times = [
        frame.where("complete").agg(F.unix_micros(F.max("swept_at"))).first() for frame in frames if frame is not None
    ]
    found = [row[0] for row in times if row and row[0] is not None]
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=max(found)) if found else None


def _write(frame: DataFrame, store: Store, table: Table, entry: str) -> None:
    order = [name for name in ("log_partition", "log_offset", "topic", "partition", "swept_at") if name in table.names][
        :2
    ]
    files = max(1, -(-frame.count() // FILE_ROWS))
    ordered = frame.repartition(files).sortWithinPartitions(*order)
    ordered.write.mode("overwrite").parquet(store.folder(table.name, entry), compression=COMPRESSION)


def _retained(frame: DataFrame, table: Table, older_than: datetime) -> DataFrame:
    cutoff = F.lit(older_than)
    if table.name in _BY_TIME:
        return frame.where(F.col(_TIMES.get(table.name, "log_time")) >= cutoff)
    keys = _LATEST_KEYS[table.name]
    newest = F.max("log_offset").over(Window.partitionBy("log_partition", *keys))
    is_current = (F.col("log_offset") == F.col("_newest")) & ~F.col("tombstone")
    if table.name in (MEMBERS.name, ASSIGNMENTS.name):
        is_current = is_current | ((F.col("kind") != "classic") & ~F.col("tombstone"))
    return frame.withColumn("_newest", newest).where((F.col("log_time") >= cutoff) | is_current).drop("_newest")
