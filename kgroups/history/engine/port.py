"""The operations of every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from ..load.manifest import DataFile
from ..load.store import Store
from ..tables import Table
from ..transform.definitions import Value


class Engine(Protocol):
    """Named relations, and SQL over them."""

    def prepare(self, records: int) -> None:
        """Prepare for queries to a store of this number of records."""

    def load(self, store: Store, table: Table, files: Sequence[DataFile]) -> None:
        """Define a stored table as the rows of these files."""

    def define(self, name: str, query: str, table: Table | None = None) -> None:
        """Define a relation by a query.

        :param table: the columns of the relation, in this order and of these types; default: the columns of the query.
        """

    def rename(self, name: str, new: str) -> None:
        """Rename a relation, so that another can be defined by its name."""

    def unite(self, name: str, column: str, parts: Mapping[str, str]) -> None:
        """Define a relation as the rows of others, computed at each use.

        :param column: the first column.
        :param parts: relation -> its value of that column.
        """

    def literal(self, value: Value) -> str:
        """Return a value in SQL."""

    def fetch(self, query: str) -> pa.Table:
        """Run a query.

        :raises UsageError: if the query is invalid.
        :raises HistoryError: if the store's files cannot be read.
        """

    def ask(self, query: str) -> pa.Table:
        """Run a query of the user, the last one of this engine. Raises what :meth:`fetch` raises."""
