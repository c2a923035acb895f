"""Read files of the store by SQL, and write the result as new files, sorted: with DuckDB, in bounded memory."""

from __future__ import annotations

import glob
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar
from uuid import uuid4

import duckdb
import pyarrow as pa

from kgroups.errors import HistoryError
from kgroups.files.object_files import UNFINISHED

from ..arrow import arrow_schema, open_parquet
from ..load.files import damaged_file
from ..load.manifest import COMPACTED, DataFile, Entry, Snapshot
from ..load.sql import connect, first_line, rows_of_files, sql_text
from ..load.storage import Storage
from ..load.store import Store
from ..suspended import elapsed
from ..tables import STORED, Table

TABLES = {table.name: table for table in STORED}

FILE_ROWS = 5_000_000
"""Maximum number of rows in a file."""

BATCH_ROWS = 20_000
"""Number of rows that are passed at once from DuckDB to a file."""

MEMORY = "256MB"
"""Maximum memory of DuckDB; it spills the rest to the directory for temporary files."""

SPACE = 1 << 30
"""Free bytes in the directory for temporary files below which it is regarded as full: DuckDB reports both alike."""

_ORDER = ("group", "topic", "partition", "log_partition", "log_offset", "from_offset", "sampled_at", "swept_at")


ATTEMPTS = 5
"""Attempts of a step that meets another process, such as a merge of the same files."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_T = TypeVar("_T")


class Stopped(HistoryError):
    """The process ends: nothing was changed."""


class Replaced(HistoryError):
    """Another process has replaced what a step read: nothing was changed."""


def repeated(step: Callable[_P, _R]) -> Callable[_P, _R]:
    """Repeat a step that meets another process: it reads what is current then."""

    @wraps(step)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for _ in range(ATTEMPTS - 1):
            with suppress(Replaced):
                return step(*args, **kwargs)
        return step(*args, **kwargs)

    return run


class Part(NamedTuple):
    """The files of a table and a day, which become new ones, with the rows of a query.

    The query reads their rows from ``part``; ``None``: all of them, sorted. ``changes``: whether it also changes rows.
    ``counts``: another query, whose rows are returned.
    """

    table: str
    files: tuple[DataFile, ...]
    query: str | None = None
    changes: bool = False
    counts: str | None = None

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


class Rewritten(NamedTuple):
    """A part, and its files afterwards: the same, if the query returned all their rows."""

    part: Part
    files: tuple[DataFile, ...]
    counts: Sequence[Sequence[Any]] = ()


class Elsewhere(Protocol):
    """Runs a function for each of some tasks in other processes; returns the results, which are JSON."""

    def __call__(self, function: Callable[[_T], dict[str, Any]], tasks: Sequence[_T]) -> Sequence[dict[str, Any]]: ...


def _run_alone(
    function: Callable[[Rewriter, _T], dict[str, Any]],
    storage: Storage,
    cluster: str,
    lent: Mapping[str, str],
    task: _T,
) -> dict[str, Any]:
    """Run a function for a task in a process of its own, with the relations that the first process has lent."""
    with Rewriter(Store(storage.location, cluster)) as rewriter:
        rewriter.borrow(lent)
        return function(rewriter, task)


def _rewrite(rewriter: Rewriter, part: Part) -> dict[str, Any]:
    found = rewriter.rewrite(part)
    return {"files": [file._asdict() for file in found.files], "counts": found.counts}


class Rewriter:
    """A context with DuckDB. If it ends with an error, the files that it wrote are deleted."""

    def __init__(self, store: Store, stopped: Callable[[], bool] = lambda: False) -> None:
        self._store, self._stopped = store, stopped
        self._began = elapsed()
        self._written: list[DataFile] = []
        self._copies: dict[str, Path] = {}
        self._read: list[str] = []

    def __enter__(self) -> Rewriter:
        with self._errors():
            self._folder = tempfile.TemporaryDirectory(prefix="kgroups-", ignore_cleanup_errors=True)
            # Each thread needs memory of its own.
            self._connection = connect(self._folder.name, memory_limit=MEMORY, threads="2")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        self._folder.cleanup()
        if error:
            with suppress(HistoryError):
                self._store.storage.delete([file.path for file in self._written])

    def run(self, statement: str) -> None:
        """Run a statement.

        :raises HistoryError: if a file cannot be read, or memory or disk is full.
        """
        with self._errors():
            self._connection.execute(statement)

    def value(self, query: str) -> Any:
        """Return the only value of a query."""
        return self.column(query)[0]

    def column(self, query: str) -> list[Any]:
        """Return the only column of a query.

        :raises Stopped: if the process ends.
        """
        if self._stopped():
            raise Stopped("stopped")
        with self._errors():
            return [value for (value,) in self._connection.sql(query).fetchall()]

    def view(self, name: str, table: Table, files: Sequence[DataFile]) -> None:
        """Define a view of the rows of files; columns of the table that a file does not have are null."""
        paths = list(self._paths(files))
        self._read += paths
        query = rows_of_files(table, paths)
        self.run(f'create or replace temp view "{name}" as {query}')

    def define(self, name: str, query: str) -> None:
        """Define a relation by a query."""
        self.run(f"create or replace temp table {name} as {query}")

    def insert(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows to a relation."""
        if rows:
            with self._errors():
                columns = [row[0] for row in self._connection.execute(f"describe {name}").fetchall()]
                added = pa.table(dict(zip(columns, zip(*rows, strict=True), strict=True)))
                self._connection.register("added", added)
                self._connection.execute(f"insert into {name} from added")
                self._connection.unregister("added")

    def write(self, table: Table, query: str, rows: int) -> list[DataFile]:
        """Write the rows of a query, sorted, to files of at most :data:`FILE_ROWS`; a group in one file if it fits.

        :param rows: number of rows at most.
        """
        found: list[DataFile] = []
        sizes = _pack(self._group_sizes(table, query)) if rows > FILE_ROWS else iter([rows])
        order = ", ".join(f'"{name}"' for name in _ORDER if name in table.names)
        with self._errors():
            batches = self._connection.sql(f"select * from ({query}) order by {order}").to_arrow_reader(BATCH_ROWS)
            for part in _split((batch.cast(arrow_schema(table)) for batch in batches), sizes):
                with self._store.writer() as writer:
                    for batch in part:
                        if self._stopped():
                            raise Stopped("stopped")
                        writer.add(table, batch)
                found += writer.files
                self._written += writer.files
        return found

    def rewrite(self, part: Part) -> Rewritten:
        """Write the new files of a part."""
        self.view("part", TABLES[part.table], part.files)
        with self._errors():
            counts = self._connection.sql(part.counts).fetchall() if part.counts else []
        query = part.query or "select * from part"
        is_same = part.query and self.value(f"select count(*) from ({query})") == part.rows
        if is_same and part.changes:
            is_same = self.value(f"select count(*) from ({query} except all from part)") == 0
        files = part.files if is_same else tuple(self.write(TABLES[part.table], query, part.rows))
        self.release(part.files)
        return Rewritten(part, files, counts)

    def rewrite_all(
        self, parts: Sequence[Part], elsewhere: Elsewhere | None = None, relations: Sequence[str] = ()
    ) -> Iterator[Rewritten]:
        """Rewrite parts, here or elsewhere, in any order.

        :param relations: what their queries read, besides ``part``.
        """
        if elsewhere is None or not parts:
            yield from map(self.rewrite, parts)
            return
        largest_first = sorted(parts, key=lambda part: -part.rows)
        results = self.run_elsewhere(elsewhere, _rewrite, largest_first, relations)
        found = [
            Rewritten(part, tuple(DataFile(**file) for file in result["files"]), result["counts"])
            for part, result in zip(largest_first, results, strict=True)
        ]
        self._written += (file for each in found for file in each.files if file not in each.part.files)
        yield from found

    def run_elsewhere(
        self,
        elsewhere: Elsewhere,
        function: Callable[[Rewriter, _T], dict[str, Any]],
        tasks: Sequence[_T],
        relations: Sequence[str],
    ) -> Sequence[dict[str, Any]]:
        """Run a function for each task in another process, with its own rewriter and relations of this one."""
        storage, lent = self._store.storage, self.lend(relations)
        try:
            return elsewhere(partial(_run_alone, function, storage, self._store.cluster, lent), tasks)
        finally:
            self._discard(lent)

    def lend(self, names: Iterable[str]) -> dict[str, str]:
        """Write relations to files of the store, for other processes; return their paths by name.

        If they are not deleted, that is done a day later.
        """
        storage = self._store.storage
        lent = {name: f"{UNFINISHED}/{uuid4()}.parquet" for name in names}
        for name, path in lent.items():
            with self._errors(), storage.writing(path) as file:
                batches = self._connection.sql(f'from "{name}"').to_arrow_reader(BATCH_ROWS)
                with open_parquet(file, batches.schema) as writer:
                    for batch in batches:
                        writer.write_batch(batch)
        return lent

    def borrow(self, lent: Mapping[str, str]) -> None:
        """Define relations that another process has lent."""
        for name, path in lent.items():
            self.run(f'create temp view "{name}" as {self._from_file(path)}')

    def take(self, lent: Mapping[str, str]) -> None:
        """Add the rows that another process has lent to relations of the same names, and delete their files."""
        for name, path in lent.items():
            self.run(f'insert into "{name}" by name {self._from_file(path)}')
        self._discard(lent)

    def _from_file(self, path: str) -> str:
        local = self._local(path)
        self._read.append(local)
        return f"select * from read_parquet({sql_text(glob.escape(local))})"

    def _discard(self, lent: Mapping[str, str]) -> None:
        with suppress(HistoryError):
            self._store.storage.delete([*lent.values()])

    def replace(self, snapshot: Snapshot, files: Iterable[DataFile], expired: int | None) -> int:
        """Commit one entry with these files instead of all entries of a snapshot; return their number.

        :param expired: as in :class:`Entry`.
        :raises Replaced: if another process has replaced one of them.
        """
        entries = snapshot.entries
        undecoded = sum(entry.undecoded for entry in entries.values())
        numbers = tuple(sorted(entries))
        new = Entry(COMPACTED, tuple(files), snapshot.records, undecoded, snapshot.positions, numbers, expired=expired)
        self.commit(new._replace(share_positions=snapshot.share_positions), snapshot)
        return len(entries)

    def commit(self, new: Entry, snapshot: Snapshot) -> None:
        """Commit an entry that follows from the entries of a snapshot.

        :raises Replaced: if another process has replaced one of them.
        """
        entries, store, written = snapshot.entries, self._store, self._written
        self._written = []  # from now on an entry may name them

        def is_merged(current: Snapshot) -> bool:
            return any(entry.files == new.files for entry in current.entries.values())

        def check(current: Snapshot) -> None:
            if not entries.keys() <= current.entries.keys():
                raise Replaced(
                    f"store {store.shown}: other processes merged it meanwhile, {ATTEMPTS} times; nothing was changed",
                    hint="run the command again",
                )

        try:
            store.commit(new, check, began=self._began)
        except HistoryError:
            if is_merged(store.snapshot()):  # an object store may repeat a request that had succeeded
                return
            if store.storage.folder:  # elsewhere, a request without a response may still succeed
                store.storage.delete([file.path for file in written])
            raise

    def release(self, files: Iterable[DataFile]) -> None:
        """Delete the copies of files of an object store."""
        for file in files:
            if copy := self._copies.pop(file.path, None):
                copy.unlink()

    def _group_sizes(self, table: Table, query: str) -> list[int]:
        """Return the number of rows of each group, in order."""
        by = ' group by "group" order by "group"' if "group" in table.names else ""
        with self._errors():
            counts = self._connection.sql(f"select count(*) from ({query}){by}").to_arrow_table()
            found: list[int] = counts.column(0).to_numpy().tolist()
            return found

    def _paths(self, files: Sequence[DataFile]) -> Iterator[str]:
        """Return paths on this machine: DuckDB does not have the credentials of the store."""
        self._store.check_files(files)
        for file in files:
            yield self._local(file.path)

    def _local(self, path: str) -> str:
        """Return the path of a file on this machine."""
        storage = self._store.storage
        if storage.folder:
            return str(storage.folder / path)
        if self._stopped():
            raise Stopped("stopped")
        if path not in self._copies:
            self._copies[path] = Path(self._folder.name, path.rpartition("/")[2])
            storage.copy(path, self._copies[path])
        return str(self._copies[path])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except duckdb.OutOfMemoryException:
            is_full = shutil.disk_usage(self._folder.name).free < SPACE
            lacking = (
                f"the space in {tempfile.gettempdir()} (TMPDIR)" if is_full else f"the limit of {MEMORY} of memory"
            )
            reason = f"{lacking} is not enough"
            raise HistoryError(f"store {self._store.shown}: {reason}; nothing was changed") from None
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            reason = damaged_file(self._read) or getattr(error, "strerror", None) or first_line(error)
            raise HistoryError(f"store {self._store.shown}: {reason}; nothing was changed") from None


def _pack(groups: Iterable[int]) -> Iterator[int]:
    """Return the number of rows of each file, for groups with these numbers of rows."""
    size = 0
    for rows in groups:
        if size and size + rows > FILE_ROWS:
            yield size
            size = 0
        size += rows
        while size > FILE_ROWS:
            yield FILE_ROWS
            size -= FILE_ROWS
    yield size


def _split(batches: Iterable[pa.RecordBatch], sizes: Iterator[int]) -> Iterator[Iterator[pa.RecordBatch]]:
    """Divide batches into parts with these numbers of rows; each part must be consumed before the next one."""
    pending = iter(batches)
    rest = next(pending, None)

    def part(left: int) -> Iterator[pa.RecordBatch]:
        nonlocal rest
        while left and rest is not None:
            piece, left = rest.slice(0, left), left - min(left, rest.num_rows)
            rest = rest.slice(piece.num_rows) if piece.num_rows < rest.num_rows else next(pending, None)
            yield piece

    for size in sizes:
        if rest is not None:
            yield part(size)
