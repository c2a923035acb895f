"""Derived tables in the tasks of Spark: each task computes the rows of some groups, with DuckDB and the same SQL.

All that a derived table shows of a group follows from the records of this group, and from what is not about groups: the
samples of log ends, and the ranges that were read. Sweeps are read completely: that a sweep found other groups shows
that it took place. Each group belongs to one task, by the MD5 of its name; gaps, which have no group, to the first one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from ..arrow import arrow_schema
from ..engine import open_tables
from ..engine.duck import DuckDB
from ..load.manifest import Snapshot
from ..load.sql import sql_text
from ..load.store import Store
from ..rules import Rules
from ..tables import BASELINE, COMMITS, FINISHED_BUCKETS, HEADS, KEPT_COMMITS, MATERIALIZED, OPEN_COMMITS, STORED, Table
from ..transform.definitions import Span, stored_tables
from .selection import GROUP, split_globs

MEMORY = "1GB"
"""Maximum memory of DuckDB in a task; it spills the rest to the directory for temporary files."""

AT_ONCE = 1_000_000
"""Number of rows of collected tables, about, for each task."""

BATCH_ROWS = 20_000

_DIVIDED = {table.name for table in (*STORED, FINISHED_BUCKETS) if GROUP in table.names} - {BASELINE.name}


class Share:
    """Some of the groups: those of the option ``groups``, and of them the part with a number."""

    def __init__(self, groups: tuple[str, ...] | None, number: int, parts: int) -> None:
        self.groups, self.number, self.parts = groups, number, parts

    def condition(self) -> str:
        """Return a condition in SQL of DuckDB for the groups."""
        found = []
        if self.parts > 1:
            found.append(f"md5_number_lower(`{GROUP}`) % {self.parts} = {self.number}")
        if self.groups:
            names, pattern = split_globs(self.groups)
            matched = f"`{GROUP}` in ({', '.join(map(sql_text, names))})"
            globbed = f" or regexp_full_match(`{GROUP}`, {sql_text(pattern)})" if pattern else ""
            found.append(f"({matched}{globbed})")
        return " and ".join(found) or "true"


class _OfShare(DuckDB):
    """Relations with the rows of some groups."""

    def __init__(self, share: Share) -> None:
        super().__init__(memory_limit=MEMORY, threads="1")  # a task has one core
        self._share = share

    def chosen(self, table: Table, query: str) -> str:
        if table.name not in _DIVIDED or self._share.condition() == "true":
            return query
        # Rows without a group may concern any.
        return f"select * from ({query}) as chosen where `{GROUP}` is null or ({self._share.condition()})"


def slim(snapshot: Snapshot, name: str) -> Snapshot:
    """Return the snapshot with the files that a derived table needs: it is sent with each task."""
    needed = {table.name for table in (*stored_tables([name, "outdated_buckets"]), *MATERIALIZED, COMMITS, HEADS)}
    return snapshot._replace(
        entries={
            number: entry._replace(files=tuple(file for file in entry.files if file.table in needed), beside=None)
            for number, entry in snapshot.entries.items()
        }
    )


def rows_to_read(snapshot: Snapshot) -> int:
    """Return the number of rows that a derived table is computed from, about, of a slim snapshot."""
    done = snapshot.materialized
    through = done.through if done else -1
    before, _ = snapshot.split_files(COMMITS, through)
    skipped = sum(file.rows for file in before) if done else 0
    kept = sum(file.rows for file in done.files if file.table in (KEPT_COMMITS.name, OPEN_COMMITS.name)) if done else 0
    return sum(file.rows for file in snapshot.all_files()) - skipped + kept


def derived_rows(
    store: Store, snapshot: Snapshot, table: Table, span: Span, rules: Rules, share: Share
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a derived table for some groups.

    :raises HistoryError: if a file of the store cannot be read, or DuckDB has not enough memory or disk.
    """
    with _OfShare(share) as engine:
        open_tables(engine, store, [table.name], span, rules, snapshot=snapshot)
        condition = "true"
        if GROUP in table.names:
            condition = share.condition()
            if share.number == 0 and not share.groups and condition != "true":
                condition = f"`{GROUP}` is null or ({condition})"
        query = f"select * from {table.name} where {condition}"
        schema = arrow_schema(table)
        for batch in engine.stream(query, BATCH_ROWS):
            yield batch.cast(schema)
