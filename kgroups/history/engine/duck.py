"""DuckDB in this process: starts in milliseconds, uses all cores, and spills to disk what does not fit into memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count

import duckdb
import pyarrow as pa

from kgroups.errors import HistoryError, UsageError

from ..arrow import arrow_schema
from ..load.files import damaged_file
from ..load.manifest import DataFile
from ..load.read import read_rows
from ..load.sql import connect, first_line, rows_of_files, sql_literal, sql_type
from ..load.store import Store
from ..tables import Table
from ..transform.definitions import Value, union

_AS_SPARK = "nulls_first_on_asc_last_on_desc"
MANY_FILES = 64
"""Number of files of a table above which small ones are read once per query, not once per use of the table."""

SMALL_FILE = 10_000
"""Rows of a file that take no longer to read than to open, about."""

_UNREADABLE = (duckdb.IOException, duckdb.InvalidInputException)
"""Errors of files."""

_OF_QUERIES = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
"""Errors that no file causes."""


class DuckDB:
    """Relations of DuckDB; derived ones are computed once, when they are defined."""

    def __init__(self, folder: str | None = None, **settings: str) -> None:
        """Open a database in memory.

        :param folder: where it spills; default: a directory that is deleted at the end.
        :param settings: of DuckDB.
        """
        self._folder = None if folder else tempfile.TemporaryDirectory(prefix="kgroups-")
        self._numbers = count()
        where = self._folder.name if self._folder else folder or ""
        self._connection = connect(where, default_null_order=_AS_SPARK, **settings)
        self._paths: list[str] = []
        self._failure: HistoryError | None = None
        """The error of a file that is elsewhere."""

    def __enter__(self) -> DuckDB:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()
        if self._folder:
            self._folder.cleanup()

    def prepare(self, records: int) -> None:
        pass

    def load(self, store: Store, table: Table, files: Sequence[DataFile]) -> None:
        store.check_files(files)
        if store.storage.folder is None:
            self.load_arrow(table, self._stream(store, table, files))
            return
        paths = [store.storage.opened(file.path) for file in files]
        self.load_paths(table, paths, sum(file.rows for file in files))

    def chosen(self, table: Table, query: str) -> str:
        """Return a query for the rows of a stored table that are loaded: here all rows of ``query``."""
        return query

    def load_paths(self, table: Table, paths: Sequence[str], rows: int) -> None:
        """Define a stored table as the rows of files on this machine.

        :param rows: number of rows of all files.
        """
        self._paths += paths
        query = self.chosen(table, rows_of_files(table, paths))
        if len(paths) > MANY_FILES and rows < len(paths) * SMALL_FILE:
            name = f"{table.name}_{next(self._numbers)}"
            self._run(f"create temp table {name} as {query}")
            query = f"from {name}"
        self._run(f"create or replace temp view {table.name} as {query}")

    def load_arrow(self, table: Table, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Define a stored table as these rows."""
        self._connection.register("arriving", rows)
        self._run(f"create or replace temp table {table.name} as {self.chosen(table, 'from arriving')}")
        self._connection.unregister("arriving")

    def define(self, name: str, query: str, table: Table | None = None) -> None:
        if table:
            columns = ", ".join(
                f"cast(`{each.name}` as {sql_type(each.type)}) as `{each.name}`" for each in table.columns
            )
            query = f"select {columns} from ({query}) as {name}"
        self._run(f"create or replace temp table {name} as {query}")

    def rename(self, name: str, new: str) -> None:
        kind = "view" if self._connection.sql(f"from duckdb_views() where view_name = '{name}'") else "table"
        self._run(f"alter {kind} {name} rename to {new}")

    def unite(self, name: str, column: str, parts: Mapping[str, str]) -> None:
        self._run(f"create or replace temp view {name} as {union(column, parts, sql_literal)}")

    def literal(self, value: Value) -> str:
        return sql_literal(value)

    def fetch(self, query: str) -> pa.Table:
        try:
            with self.naming_files(), reading():
                found = self._connection.sql(query)
                return pa.table({}) if found is None else plain(found.to_arrow_table())
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise UsageError(f"sql: {first_line(error)}") from None

    def stream(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """Run a query of ours, and yield its rows in batches of at most this size.

        :raises HistoryError: as :meth:`fetch` does.
        """
        try:
            with self.naming_files(), reading():
                yield from self._connection.sql(query).to_arrow_reader(rows)
        except duckdb.Error as error:
            raise HistoryError(f"history cannot be read: {first_line(error)}") from None

    def ask(self, query: str) -> pa.Table:
        return self.fetch(query)

    def _run(self, statement: str) -> None:
        try:
            with self.naming_files(), reading():
                self._connection.execute(statement)
        except duckdb.Error as error:
            raise HistoryError(f"history cannot be read: {first_line(error)}") from None

    @contextmanager
    def naming_files(self) -> Iterator[None]:
        """Raise an error of a file as one that names it; other errors pass.

        :raises HistoryError: for these.
        """
        try:
            yield
        except (duckdb.Error, HistoryError) as error:
            if self._failure:
                raise self._failure from None
            is_other = isinstance(error, (*_OF_QUERIES, duckdb.OutOfMemoryException, duckdb.InterruptException))
            if not is_other and (damage := damaged_file(self._paths)):
                raise HistoryError(f"history cannot be read: {damage}") from None
            raise

    def _stream(self, store: Store, table: Table, files: Sequence[DataFile]) -> pa.RecordBatchReader:
        def batches() -> Iterator[pa.RecordBatch]:
            try:
                for file in files:
                    yield from read_rows(store.storage, table, file.path, file.rows)
            except HistoryError as error:  # DuckDB would raise another one
                self._failure = error
                raise

        return pa.RecordBatchReader.from_batches(arrow_schema(table), batches())


def plain(table: pa.Table) -> pa.Table:
    """Replace decimals, the type of DuckDB's sums, by integers, if these are large enough."""
    if _SUM not in table.schema.types:
        return table
    fields = [field.with_type(pa.int64()) if field.type == _SUM else field for field in table.schema]
    try:
        return table.cast(pa.schema(fields))
    except pa.ArrowInvalid:
        return table


@contextmanager
def reading(smaller: str = "use --engine spark, or read less with --since") -> Iterator[None]:
    """Turn errors of files, and of resources, into errors of history.

    :param smaller: how to need fewer resources.
    :raises HistoryError: for these; other errors of DuckDB pass.
    """
    try:
        yield
    except _UNREADABLE as error:
        raise HistoryError(f"history cannot be read: {first_line(error)}") from None
    except duckdb.OutOfMemoryException as error:
        message = f"not enough memory, or disk space for temporary files: {first_line(error)}"
        raise HistoryError(message, hint=smaller) from None


_SUM = pa.decimal128(38, 0)
