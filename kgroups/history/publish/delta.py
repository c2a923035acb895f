"""Delta tables in the table folders of a store: a log beside the files, by ``deltalake``.

Delta requires that a table contains its files, so each folder becomes a table, and the store can still be moved.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from kgroups.errors import HistoryError
from kgroups.files.location import full_reason

from ..load.manifest import DataFile
from ..load.storage import Storage
from ..tables import Table
from .target import Conflict, commented_schema

APPLICATION = "kgroups"
"""Application ID of the commits: another publish with the same base conflicts."""

DATE = pa.field("date", pa.string(), metadata={"comment": "day of the row's time (UTC); unknown if it has none"})
"""The partition column. Its values come from the paths, as text: Polars takes them from there, not from the log."""

_PROPERTIES = {"delta.deletedFileRetentionDuration": "interval 365 days"}
"""VACUUM spares files that are not registered yet until they are older than this."""


class DeltaTarget:
    """The table folders of a store."""

    name = "delta"

    def __init__(self, location: str) -> None:
        self._storage = Storage(location)
        self._storage.check_publishable()

    def open(self, table: Table) -> PublishedDelta:
        """Open a table; see :meth:`Target.open`."""
        with self._errors(table):
            return self._open(table)

    def close(self) -> None:
        """Do nothing: each request has its own connection."""

    def _open(self, table: Table) -> PublishedDelta:
        uri, options = self._place(table)
        schema = Schema.from_arrow(commented_schema(table, "comment").append(DATE))
        if not self._storage.names(f"{table.name}/_delta_log"):
            create_table_with_add_actions(
                uri,
                schema,
                [],
                mode="ignore",
                partition_by=[DATE.name],
                name=f"{APPLICATION}.{table.name}",
                description=table.doc,
                configuration=_PROPERTIES,
                storage_options=options,
            )
        delta = DeltaTable(uri, storage_options=options)
        if delta.metadata().name != f"{APPLICATION}.{table.name}":
            raise HistoryError(
                f"store {self._storage.shown}: {table.name} has a Delta log that kgroups has not written; delete "
                f"{table.name}/_delta_log, and publish again"
            )
        _update_schema(delta, schema)
        return PublishedDelta(self, table, delta)

    def _place(self, table: Table) -> tuple[str, dict[str, str]]:
        if self._storage.folder:
            return str((self._storage.folder / table.name).resolve()), {}
        address, _, query = self._storage.location.partition("?")
        place = address.partition("://")[2].rstrip("/")
        return f"{self._storage.scheme}://{place}/{table.name}", {"allow_http": "true", **dict(parse_qsl(query))}

    @contextmanager
    def _errors(self, table: Table) -> Iterator[None]:
        try:
            yield
        except CommitFailedError:
            raise Conflict(table.name) from None
        except (DeltaError, OSError, ValueError) as error:
            raise HistoryError(f"store {self._storage.shown}: {table.name}: {self._reason(error)}") from None

    def _reason(self, error: Exception) -> str:
        if self._storage.shown != self._storage.location:  # a message may repeat parts of the location
            return type(error).__name__
        return full_reason(error)


class PublishedDelta:
    """A folder of a store as a Delta table."""

    def __init__(self, target: DeltaTarget, table: Table, delta: DeltaTable) -> None:
        self._target, self._table, self._delta = target, table, delta
        self._registered: dict[str, dict[str, Any]] = {
            row["path"]: row for row in pa.table(delta.get_add_actions()).to_pylist()
        }
        self.files = frozenset(self._registered)

    def place(self, file: DataFile) -> str:
        """Return the path relative to the table."""
        return file.path.removeprefix(f"{self._table.name}/")

    def commit(self, added: Sequence[DataFile], removed: Sequence[str]) -> None:
        """Register files and remove others; see :meth:`PublishedTable.commit`."""
        now = time.time_ns() // 1_000_000
        actions: list[AddAction | RemoveAction] = [self._removal(path, now) for path in removed]
        actions += [self._addition(file, now) for file in added]
        version = self._delta.version()
        properties = CommitProperties(
            max_commit_retries=0, app_transactions=[Transaction(APPLICATION, version + 1, now)]
        )
        with self._target._errors(self._table):
            self._delta.create_write_transaction(
                actions, "append", self._delta.schema(), [DATE.name], commit_properties=properties
            )

    def _addition(self, file: DataFile, now: int) -> AddAction:
        path = self.place(file)
        stats = json.dumps({"numRecords": file.rows})
        return AddAction(path, file.size, {DATE.name: _date(path)}, now, data_change=True, stats=stats)

    def _removal(self, path: str, now: int) -> RemoveAction:
        row = self._registered[path]
        return RemoveAction(path, True, now, row["size_bytes"], {DATE.name: _date(path)})


def _update_schema(delta: DeltaTable, wanted: Schema) -> None:
    """Add new columns, and comments that have changed; each is a commit of its own, as readers see no difference."""
    known = {field.name: field for field in delta.schema().fields}
    if new := [field for field in wanted.fields if field.name not in known]:
        delta.alter.add_columns(new)
    for field in wanted.fields:
        if field.name in known and known[field.name].metadata != field.metadata:
            delta.alter.set_column_metadata(field.name, {name: str(text) for name, text in field.metadata.items()})


def _date(path: str) -> str:
    return path.split("/")[0].removeprefix(f"{DATE.name}=")
