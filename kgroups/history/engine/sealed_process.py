"""The process of an untrusted query: loads the tables, gives up its rights, and runs the query.

Strategy: it is started with an empty environment, and the system limits its memory, and kills it with its parent. Files
are read before the query is: large ones are mapped into memory, and DuckDB scans them there. From then on, the
process can open no file and no socket, and cannot write to a file that is open (``RLIMIT_NOFILE`` and
``RLIMIT_FSIZE`` are 0), so that this does not depend on DuckDB, nor on the check of the query.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import resource
import signal
import sys
from collections.abc import Collection, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from kgroups.errors import KgroupsError, UsageError

from ..arrow import arrow_schema, to_ipc
from ..load.sql import first_line, rows_of_files, sql_text
from ..tables import Table
from .allowed import NOT_SELECT, check_tree
from .duck import DuckDB, reading

LARGE = 2_000_000
"""Rows of a table that is scanned where it is, not copied."""

_BATCH = 100
_SLACK = 256 << 20
"""Bytes of memory beyond the limit of DuckDB: Arrow, and fragments."""

_DIES_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of Linux."""

SMALLER = "read less: a shorter time window, or a filter"


class Limits(NamedTuple):
    """The limits of a query."""

    rows: int
    seconds: float
    size: int
    """Bytes of the result."""
    memory: str
    """Of DuckDB."""
    spill: str
    """Disk space of DuckDB while it loads tables."""
    folder: str
    """For what it spills."""
    parent: int
    """ID of the process."""


class _Tables(DuckDB):
    """Relations of DuckDB that can be sealed."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits.folder)
        self._limits = limits
        self._run(f"set memory_limit = {sql_text(limits.memory)}")
        self._run(f"set max_temp_directory_size = {sql_text(limits.spill)}")
        self._memory = _data_size()
        self._loaded: dict[str, tuple[Table, Sequence[str], int]] = {}
        self._parts: dict[str, list[str]] = {}

    def load_paths(self, table: Table, paths: Sequence[str], rows: int) -> None:
        super().load_paths(table, paths, rows)
        self._loaded[table.name] = (table, paths, rows)

    def define(self, name: str, query: str, table: Table | None = None) -> None:
        super().define(name, query, table)
        self._loaded.pop(name, None)

    def rename(self, name: str, new: str) -> None:
        super().rename(name, new)
        if name in self._loaded:
            self._loaded[new] = self._loaded.pop(name)

    def unite(self, name: str, column: str, parts: dict[str, str]) -> None:  # type: ignore[override]
        super().unite(name, column, parts)
        self._parts[name] = list(parts)

    def ask_sealed(self, query: str, tables: Collection[str]) -> tuple[pa.Table, bool]:
        """Run the untrusted query; return its rows, and whether there are more."""
        try:
            ((tree,),) = self._connection.execute("select json_serialize_sql(?)", [query]).fetchall()
            used = check_tree(tree, tables)
            if [each.type for each in self._connection.extract_statements(query)] != [duckdb.StatementType.SELECT]:
                raise UsageError(NOT_SELECT)
        except duckdb.Error as error:
            raise UsageError(f"sql: {first_line(error)}") from None
        for name in sorted(used):
            for part in self._parts.get(name, [name]):
                self._keep(part)
        self._seal()
        try:
            with reading(SMALLER):
                return self._rows(query)
        except (duckdb.Error, OSError) as error:  # OSError: DuckDB's errors while Arrow reads the rows
            raise UsageError(f"sql: {first_line(error)}") from None

    def _rows(self, query: str) -> tuple[pa.Table, bool]:
        most = self._limits.rows
        reader = self._connection.sql(query).to_arrow_reader(min(most + 1, _BATCH))
        batches, count, size = [], 0, 0
        while count <= most and (batch := next(reader, None)) is not None:
            batches.append(batch)
            count += batch.num_rows
            size += batch.nbytes
            if size > self._limits.size:
                raise UsageError(
                    f"sql: the result is larger than {self._limits.size // 1_000_000} MB",
                    hint="select fewer rows, or fewer or shorter columns",
                )
        found = pa.Table.from_batches(batches, reader.schema)
        return found.slice(0, most), count > most

    def _keep(self, name: str) -> None:
        """Read the files of a loaded table now: as a copy, or mapped into memory."""
        if name not in self._loaded:
            return
        table, paths, rows = self._loaded[name]
        if rows <= LARGE or not paths:
            self._run(f"create temp table kept_{name} as {rows_of_files(table, paths)}")
        else:
            self._connection.register(f"mapped_{name}", _mapped(table, paths))
            self._run(f"create temp view kept_{name} as select * from mapped_{name}")
        self._run(f"create or replace temp view {name} as select * from kept_{name}")

    def _seal(self) -> None:
        """Give up everything that the query does not need; this cannot be undone."""
        for name, value in {
            "python_enable_replacements": "false",
            "autoload_known_extensions": "false",
            "enable_external_access": "false",
            "lock_configuration": "true",
        }.items():
            self._run(f"set {name} = {value}")
        setting = "select parse_formatted_bytes(value) from duckdb_settings() where name = 'memory_limit'"
        ((most,),) = self._connection.execute(setting).fetchall()
        memory = max(self._memory + int(most), _data_size()) + _SLACK
        cores = os.cpu_count() or 1
        seconds = int(self._limits.seconds * cores) + 5  # of all threads: if the parent is dead
        for kind, limit in (
            (resource.RLIMIT_DATA, memory),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_NOFILE, 0),
        ):
            resource.setrlimit(kind, (limit, limit))


def _mapped(table: Table, paths: Sequence[str]) -> Any:
    """Return files as a data set of Arrow, which reads only the columns and row groups that a query needs."""
    from pyarrow import dataset

    form = dataset.ParquetFileFormat()
    fragments = [form.make_fragment(pa.memory_map(path).read_buffer()) for path in paths]
    return dataset.FileSystemDataset(fragments, arrow_schema(table), form)


def _data_size() -> int:
    """Return the size of the data segment, which RLIMIT_DATA limits; 0 where it is unknown."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))


def main() -> None:
    """Execute the calls that arrive on standard input, which is a socket, until it is closed."""
    parent = Connection(os.dup(0))
    limits: Limits = pickle.loads(parent.recv_bytes())
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != limits.parent:
        return
    tables = _Tables(limits)
    while True:
        try:
            name, arguments = pickle.loads(parent.recv_bytes())
        except EOFError:
            return
        head: dict[str, Any] = {}
        found: Any = None
        try:
            found = getattr(tables, name)(*arguments)
        except KgroupsError as error:
            head = {"error": error.text, "usage": isinstance(error, UsageError), "hint": error.hint}
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            head = {"error": f"history cannot be read: {first_line(error)}", "usage": False, "hint": None}
        except MemoryError:
            head = {"error": "not enough memory", "usage": False, "hint": SMALLER}
        if isinstance(found, tuple):
            found, head["more"] = found
        rows = to_ipc(found) if isinstance(found, pa.Table) else None
        parent.send_bytes(json.dumps(head | {"rows": rows is not None}).encode())
        if rows is not None:
            parent.send_bytes(rows)
