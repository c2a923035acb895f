"""Engines that answer SQL over the tables of a store: DuckDB in this process, or Spark."""

from __future__ import annotations

from collections.abc import Iterable

from ..load.manifest import Snapshot
from ..load.store import Store
from ..materialized import Files, materialized_files
from ..rules import Rules
from ..tables import COMMITS, FINISHED_BUCKETS, Table
from ..transform.definitions import DERIVED, Span, fill, parameters, relations, stored_tables
from .port import Engine

__all__ = ["Engine", "derive", "open_tables"]


def derive(engine: Engine, names: Iterable[str], span: Span, rules: Rules, *, is_materialized: bool = False) -> None:
    """Define derived tables of these names, and the relations that they use; stored tables must be loaded.

    :param is_materialized: whether the table of finished buckets is loaded, too; otherwise, all are computed.
    """
    names = list(names)
    if not is_materialized and FINISHED_BUCKETS in stored_tables(names):
        nulls = ", ".join(f"null as `{name}`" for name in FINISHED_BUCKETS.names)
        engine.define(FINISHED_BUCKETS.name, f"select {nulls} where false", FINISHED_BUCKETS)
    values = {name: engine.literal(value) for name, value in parameters(span, rules).items()}
    for name, query in relations(names).items():
        engine.define(name, fill(query, values), DERIVED.get(name))


def open_tables(
    engine: Engine,
    store: Store,
    names: Iterable[str],
    span: Span,
    rules: Rules,
    records: int | None = None,
    snapshot: Snapshot | None = None,
) -> Snapshot:
    """Load the stored tables, and define the derived ones, that queries with these names need; return what they show.

    :param records: number of records of all clusters that are queried; default: of this one.
    :param snapshot: what the tables show; default: what is current.
    :raises HistoryError: if there is no store, or it cannot be read.
    """
    snapshot = store.snapshot() if snapshot is None else snapshot
    engine.prepare(snapshot.records if records is None else records)
    wanted = list(names)
    tables = stored_tables(wanted)
    used = {table.name for table in tables}
    files: Files = {}
    if COMMITS.name in used and COMMITS.name not in wanted:
        files = materialized_files(engine, store, snapshot, used, span.until, rules)
    _define(engine, store, snapshot, tables, files)
    checked = ["outdated_buckets"] if files and FINISHED_BUCKETS.name in used else []
    derive(engine, [*wanted, *checked], span, rules, is_materialized=True)
    if checked and engine.fetch("select log_partition from outdated_buckets limit 1").num_rows:
        _define(engine, store, snapshot, tables, {})
        derive(engine, wanted, span, rules, is_materialized=True)
    return snapshot


def _define(engine: Engine, store: Store, snapshot: Snapshot, tables: Iterable[Table], files: Files) -> None:
    for table in tables:
        engine.load(store, table, files[table.name] if table.name in files else snapshot.files(table))
