"""Write rows of the stored tables to Parquet files: one for each table and day (UTC), as they come. Without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from hashlib import sha256
from types import TracebackType
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgroups.errors import HistoryError

from ..arrow import arrow_schema, open_parquet
from ..tables import TIMES, Table
from .manifest import DataFile
from .storage import Storage

ROW_GROUP = 100_000
"""Number of rows that a writer holds before it writes a row group: groups of 10,000 rows take twice the time and
space."""

CLUSTER_ID: Final = pa.field("cluster_id", pa.string())
"""The first column of every file."""

MAX_OPEN = 32
"""Maximum number of open files: a log of a year must not take the memory of 365."""

_DAY = 86_400_000_000
"""Microseconds."""


class TableWriter:
    """Writes batches of rows; :attr:`files` is complete when the context ends without an error, otherwise deleted."""

    def __init__(self, storage: Storage, cluster_id: str) -> None:
        self._storage, self._cluster_id = storage, cluster_id
        self._open: dict[tuple[str, int | None], _OpenFile] = {}
        self._closed: list[DataFile] = []
        self._held = 0

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            while self._open and not error:
                self._closed.append(self._open.pop(next(iter(self._open))).close())
        except HistoryError as failure:
            error = failure
            raise
        finally:
            if error:
                for file in self._open.values():
                    file.abandon()
                with suppress(HistoryError):  # the first error counts
                    self._storage.delete([file.path for file in self._closed])

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The files that are complete."""
        return tuple(self._closed)

    def add(self, table: Table, rows: pa.RecordBatch) -> None:
        """Write the rows of a table, in their order within each day."""
        for day, part in _by_day(rows, time_column(table)) if table.daily else [(None, rows)]:
            key = (table.name, day)
            if key not in self._open:
                if len(self._open) == MAX_OPEN:
                    oldest = next(iter(self._open))
                    self._closed.append(self._open.pop(oldest).close())
                self._open[key] = _OpenFile(self._storage, self._cluster_id, table, day)
            self._open[key].add(part)
            self._held += part.num_rows
        if self._held >= ROW_GROUP:
            self._held = 0
            for file in self._open.values():
                file.write()


class _OpenFile:
    """A file that is being written."""

    def __init__(self, storage: Storage, cluster_id: str, table: Table, day: int | None) -> None:
        self._storage, self._cluster_id, self._table = storage, pa.scalar(cluster_id), table
        date = "unknown" if day is None else str(np.datetime64(day, "D"))
        self.path = f"{table.name}/date={date}/{uuid4()}.parquet"
        self._schema = pa.schema([CLUSTER_ID, *arrow_schema(table)])
        self._time = time_column(table)
        self._held: list[pa.RecordBatch] = []
        self._rows = 0
        self._first: int | None = None
        self._last: int | None = None
        self._stack = ExitStack()
        self._file = _Hashed(self._stack.enter_context(storage.writing(self.path)))
        with storage.errors(self.path):
            self._writer: Any = self._stack.enter_context(open_parquet(self._file, self._schema))

    def add(self, rows: pa.RecordBatch) -> None:
        clusters = pa.repeat(self._cluster_id, rows.num_rows)
        self._held.append(pa.RecordBatch.from_arrays([clusters, *rows.columns], schema=self._schema))
        self._rows += rows.num_rows
        times = pc.min_max(rows[self._time].cast(pa.int64())).as_py()
        if times["min"] is not None:
            self._first = times["min"] if self._first is None else min(self._first, times["min"])
            self._last = times["max"] if self._last is None else max(self._last, times["max"])

    def write(self) -> None:
        """Write the rows that were added, as one row group."""
        if self._held:
            with self._storage.errors(self.path):
                self._writer.write_table(pa.Table.from_batches(self._held))
            self._held = []

    def close(self) -> DataFile:
        try:
            self.write()
            with self._storage.errors(self.path):
                self._stack.close()
            size = self._storage.size(self.path)
        except HistoryError:
            self.abandon()
            raise
        digest = self._file.digest.hexdigest()
        return DataFile(self._table.name, self.path, self._rows, size, self._first, self._last, sha256=digest)

    def abandon(self) -> None:
        """Delete a file that no entry will name."""
        with suppress(Exception):  # the first error counts
            self._stack.close()
        with suppress(HistoryError):
            self._storage.delete([self.path])


class _Hashed:
    """A file that Arrow writes, and its digest."""

    closed = False

    def __init__(self, file: Any) -> None:
        self._file, self.digest = file, sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        written: int = self._file.write(data)
        return written

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """Do nothing: the file is closed by the context that opened it."""


def time_column(table: Table) -> str:
    """Return the column with the time of a row of a stored table."""
    return next(name for name in TIMES if name in table.names)


def _by_day(rows: pa.RecordBatch, time: str) -> Iterator[tuple[int | None, pa.RecordBatch]]:
    """Yield the rows of each day since 1970; ``None`` for rows without a time."""
    if not rows.num_rows:
        return
    column = rows[time].cast(pa.int64())
    days = np.floor_divide(column.fill_null(0).to_numpy(), _DAY)
    known = column.is_valid().to_numpy(zero_copy_only=False)
    if known.all() and days.min() == days.max():
        yield int(days[0]), rows
        return
    for day in np.unique(days[known]).tolist():
        yield day, rows.filter(pa.array(known & (days == day)))
    if not known.all():
        yield None, rows.filter(pa.array(~known))
