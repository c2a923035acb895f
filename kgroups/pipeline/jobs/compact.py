"""Merges a store's entries, and forgets what is older than wanted, while others read and collect.

What is merged counts from the moment that its entry is in the manifest, and the old ones are deleted after. The newest
batch is left alone: after a crash Spark may write it once more.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from kgroups.errors import HistoryError

from ..load.read import read_entries
from ..load.store import BATCH, COMPRESSION, Entry, Store
from ..session import reason
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
    UNDECODED,
    Table,
)

FILE_ROWS = 5_000_000
"""About so many rows in a file of the large tables."""

_LATEST: dict[str, tuple[str, ...]] = {
    COMMITS.name: ("group", "topic", "partition"),
    GROUP_METADATA.name: ("group",),
    EPOCHS.name: ("group", "kind", "subject", "member_id"),
    MEMBERS.name: ("group", "kind"),
    ASSIGNMENTS.name: ("group", "kind", "role"),
}
"""By which keys the last record of a table still holds, however old it is. Classic groups write all members at once;
of the newer kinds, whose members are written one by one, nothing of a group is forgotten while the group is there."""

_TIMES = {HEADS.name: "sampled_at", COVERAGE.name: "sampled_at", BASELINE.name: "swept_at"}
_BY_TIME = frozenset({RECORDS.name, UNDECODED.name, *_TIMES})


def compact(spark: SparkSession, store: Store, *, older_than: datetime | None = None) -> int:
    """Merges all entries but the newest batch into one; gives how many there were, 0 when there was nothing to do.

    :raises HistoryError: when the store cannot be read or written; it is as it was then.
    """
    store.identity()
    entries = _settled(store.entries())
    if (len(entries) < 2 and older_than is None) or not entries:
        return 0
    name = f"compact-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    tables = []
    try:
        for table in STORED:
            frame = read_entries(spark, store, table, entries)
            if frame is not None:
                kept = _kept(frame, table, older_than) if older_than else frame
                _write(kept, store, table, name)
                tables.append(table.name)
    except PySparkException as error:
        raise HistoryError(f"store {store.shown}: {reason(error)}; nothing was changed") from None
    replaced = tuple(entry.name for entry in entries)
    entry = Entry(name, tuple(tables), sum(entry.records for entry in entries), replaced)
    store.commit(entry)
    with contextlib.suppress(OSError):  # what could not be deleted is hidden by the entry
        store.forget(entry)
    return len(entries)


def _settled(entries: list[Entry]) -> list[Entry]:
    newest = max((entry.name for entry in entries if entry.name.startswith(BATCH)), default=None)
    return [entry for entry in entries if entry.name != newest]


def _write(frame: DataFrame, store: Store, table: Table, entry: str) -> None:
    order = [name for name in ("log_partition", "log_offset", "topic", "partition") if name in table.names][:2]
    files = max(1, -(-frame.count() // FILE_ROWS))
    ordered = frame.repartition(files).sortWithinPartitions(*order)
    ordered.write.mode("overwrite").parquet(store.folder(table.name, entry), compression=COMPRESSION)


def _kept(frame: DataFrame, table: Table, older_than: datetime) -> DataFrame:
    cutoff = F.lit(older_than)
    if table.name in _BY_TIME:
        return frame.where(F.col(_TIMES.get(table.name, "log_time")) >= cutoff)
    keys = _LATEST[table.name]
    newest = F.max("log_offset").over(Window.partitionBy("log_partition", *keys))
    holds = (F.col("log_offset") == F.col("_newest")) & ~F.col("tombstone")
    if table.name in (MEMBERS.name, ASSIGNMENTS.name):
        holds = holds | ((F.col("kind") != "classic") & ~F.col("tombstone"))
    return frame.withColumn("_newest", newest).where((F.col("log_time") >= cutoff) | holds).drop("_newest")
