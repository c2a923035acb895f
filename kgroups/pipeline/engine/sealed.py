"""DuckDB for queries of unknown origin, such as a language model: they read the store, and nothing else."""

from __future__ import annotations

import threading

import duckdb
import pyarrow as pa

from kgroups.errors import DeadlineExceeded, UsageError

from ..load.sql import first_line, sql_text
from .duck import DuckDB, reading

_SPILL = "4GB"
_MEMORY = "20%"
"""Share of the memory of this machine: several queries can run at the same time."""

_BATCH = 100
_LARGEST = 256_000_000
"""Bytes of a result."""

_SMALLER = "read less: a shorter time window, or a filter"

_AGAIN = 0.1
"""Seconds after which a query is interrupted again: an interrupt between two statements has no effect."""


class SealedDuckDB(DuckDB):
    """Relations of DuckDB, and queries that are bounded in what they do, in rows, and in time.

    A query is one SELECT statement. It can read the tables, and no other file, no network, no variable of Python, and
    no secret; it cannot change settings.

    :param seconds: time limit for loading the tables and for the query together.
    """

    def __init__(self, rows: int, seconds: float) -> None:
        super().__init__()
        self._run(f"set memory_limit = {sql_text(_MEMORY)}")
        self._rows = rows
        self._seconds = seconds
        self._closed = threading.Event()
        self._late = False
        self._watchdog = threading.Thread(target=self._interrupt_late, daemon=True)
        self.has_more = False
        """Whether the last query has more rows than were returned."""

    def __enter__(self) -> SealedDuckDB:
        self._watchdog.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closed.set()
        self._watchdog.join()
        super().__exit__(*error)
        if self._late and any(isinstance(each, duckdb.InterruptException | UsageError) for each in error):
            raise DeadlineExceeded(f"the query took longer than {self._seconds:g} s", hint=_SMALLER) from None

    def ask(self, query: str) -> pa.Table:
        self._check(query)
        self._seal()
        try:
            with reading(_SMALLER):
                reader = self._connection.sql(query).to_arrow_reader(min(self._rows + 1, _BATCH))
                batches, count, size = [], 0, 0
                while count <= self._rows and (batch := next(reader, None)) is not None:
                    batches.append(batch)
                    count += batch.num_rows
                    size += batch.nbytes
                    if size > _LARGEST:
                        raise UsageError(
                            f"sql: the result is larger than {_LARGEST // 1_000_000} MB",
                            hint="select fewer rows, or fewer or shorter columns",
                        )
                found = pa.Table.from_batches(batches, reader.schema)
                reader.close()
        except duckdb.InterruptException:
            raise
        except (duckdb.Error, OSError) as error:  # OSError: DuckDB's errors while Arrow reads the rows
            raise UsageError(f"sql: {first_line(error)}") from None
        self.has_more = count > self._rows
        return self.plain(found.slice(0, self._rows))

    def _check(self, query: str) -> None:
        """Check that a query is one SELECT.

        :raises UsageError: if it is not.
        """
        try:
            kinds = [each.type for each in self._connection.extract_statements(query)]
        except duckdb.Error as error:
            raise UsageError(f"sql: {first_line(error)}") from None
        if kinds != [duckdb.StatementType.SELECT]:
            raise UsageError("sql: the query must be one SELECT statement")

    def _seal(self) -> None:
        """Reject everything else from now on; this cannot be undone."""
        for name, value in {
            "python_enable_replacements": "false",
            "autoload_known_extensions": "false",
            "max_temp_directory_size": sql_text(_SPILL),
            "allowed_paths": f"[{', '.join(map(sql_text, self.paths))}]",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }.items():
            self._run(f"set {name} = {value}")

    def _interrupt_late(self) -> None:
        if self._closed.wait(self._seconds):
            return
        self._late = True
        while not self._closed.wait(_AGAIN):
            self._connection.interrupt()
