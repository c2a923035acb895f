"""Engines that answer SQL over the tables of a store: DuckDB in this process, or Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import pyarrow as pa

from ..load.manifest import DataFile, Snapshot
from ..load.store import Store
from ..rules import Rules
from ..tables import Table
from ..transform.definitions import DERIVED, Span, Value, fill, parameters, relations, stored_tables


class Engine(Protocol):
    """Named relations, and SQL over them."""

    def prepare(self, records: int) -> None:
        """Prepare for queries to a store of this number of records."""

    def load(self, store: Store, table: Table, files: Sequence[DataFile]) -> None:
        """Define a stored table as the rows of these files."""

    def define(self, name: str, query: str, table: Table | None = None) -> None:
        """Define a relation by a query.

        :param table: the columns of the relation, in this order and of these types; default: those of the query.
        """

    def literal(self, value: Value) -> str:
        """Return a value in SQL."""

    def fetch(self, query: str) -> pa.Table:
        """Run a query.

        :raises UsageError: if the query is invalid.
        :raises HistoryError: if the store's files cannot be read.
        """


def derive(engine: Engine, names: Iterable[str], span: Span, rules: Rules) -> None:
    """Define derived tables of these names, and the relations that they use; stored tables must be loaded."""
    values = {name: engine.literal(value) for name, value in parameters(span, rules).items()}
    for name, query in relations(names).items():
        engine.define(name, fill(query, values), DERIVED.get(name))


def open_tables(engine: Engine, store: Store, names: Iterable[str], span: Span, rules: Rules) -> Snapshot:
    """Load the stored tables, and define the derived ones, that queries with these names need; return what they show.

    :raises HistoryError: if there is no store, or it cannot be read.
    """
    snapshot = store.snapshot()
    engine.prepare(snapshot.records)
    wanted = list(names)
    for table in stored_tables(wanted):
        engine.load(store, table, snapshot.files(table))
    derive(engine, wanted, span, rules)
    return snapshot
