"""The interface of a table format, and the schema that both formats publish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from ..arrow import arrow_schema
from ..load.manifest import DataFile
from ..load.write import CLUSTER_ID
from ..tables import Table


class Conflict(Exception):
    """Another process has changed the table since it was opened; nothing was committed."""


class PublishedTable(Protocol):
    """A table of a store in another format, as it was when it was opened."""

    @property
    def files(self) -> frozenset[str]:
        """The registered files, in the form of :meth:`place`."""

    def place(self, file: DataFile) -> str:
        """Return the name by which the table registers a file."""

    def commit(self, added: Sequence[DataFile], removed: Sequence[str]) -> None:
        """Register files and remove others, in one commit.

        :raises Conflict: if another process has changed the table since it was opened.
        :raises HistoryError: if the table cannot be written.
        """


class Target(Protocol):
    """A place for tables in another format."""

    name: str
    """A name that is unique among the targets of the store."""

    def open(self, table: Table) -> PublishedTable:
        """Open a table; create it, or add new columns and comments, if necessary.

        :raises Conflict: if another process changes the table at the same time.
        :raises HistoryError: if the table cannot be read or written, or was not published from this store.
        """

    def close(self) -> None:
        """Close connections; tables that are open can no longer be used."""


def comments(table: Table) -> Mapping[str, str]:
    """Return the comment of each column of a table's files."""
    return {CLUSTER_ID.name: "ID of the cluster", **{column.name: column.doc for column in table.columns}}


def commented_schema(table: Table, key: str) -> pa.Schema:
    """Return the schema of a table's files, with the comment of each column under a key of its metadata."""
    docs = comments(table)
    fields = [CLUSTER_ID, *arrow_schema(table)]
    return pa.schema([field.with_metadata({key: docs[field.name]}) for field in fields])
