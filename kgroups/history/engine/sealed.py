"""DuckDB for untrusted queries, such as from a language model: they read the store, and nothing else."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow as pa

from kgroups.errors import DeadlineExceeded, HistoryError, KgroupsError, UsageError

from ..load.manifest import DataFile
from ..load.sql import sql_literal
from ..load.store import Store
from ..tables import Table
from ..transform.definitions import Value
from .duck import plain
from .sealed_process import SMALLER, Limits

_SPILL = "4GB"
_MEMORY = "20%"
"""Share of the memory of this machine: several queries can run at the same time."""

LARGEST = 64_000_000
"""Bytes of a result."""

_LONGEST_HEAD = 1_000_000
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from kgroups.history.engine.sealed_process import main; main()"
)
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
"""Variables with which Python may need to start."""


class SealedDuckDB:
    """Relations of DuckDB in a process of its own, and queries with limits on elements, rows, and time.

    A query is one SELECT statement. It can read the tables, and no file, no network, no variable of Python, and no
    secret; it cannot read or change settings. See :mod:`.sealed_process` for how.

    :param tables: names of the tables that a query may read.
    :param seconds: time limit for loading the tables and for the query together.
    """

    def __init__(self, tables: Sequence[str], rows: int, seconds: float) -> None:
        self._tables, self._rows, self._seconds = tuple(tables), rows, seconds
        self._folder = tempfile.TemporaryDirectory(prefix="kgroups-")
        self._ended = threading.Event()
        self._late = False
        self.has_more = False
        """Whether the last query has more rows than were returned."""

    def __enter__(self) -> SealedDuckDB:
        self._until = time.monotonic() + self._seconds
        ours, theirs = socket.socketpair()
        variables = {name: os.environ[name] for name in _KEPT if name in os.environ}
        with ours, theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-c", _START, json.dumps([each for each in sys.path if each])],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={**variables, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"},
                    start_new_session=True,
                )
            except OSError as error:
                self._folder.cleanup()
                raise HistoryError(f"cannot start the process of the query: {error.strerror or error}") from None
            self._connection = Connection(os.dup(ours.fileno()))
        self._watchdog = threading.Thread(target=self._kill_late, daemon=True)
        self._watchdog.start()
        limits = Limits(self._rows, self._seconds, LARGEST, _MEMORY, _SPILL, self._folder.name, os.getpid())
        with suppress(OSError):  # the first call reports it
            self._connection.send_bytes(pickle.dumps(limits))
        return self

    def __exit__(self, *error: object) -> None:
        self._end()
        self._connection.close()
        self._folder.cleanup()

    def prepare(self, records: int) -> None:
        pass

    def load(self, store: Store, table: Table, files: Sequence[DataFile]) -> None:
        store.check_files(files)
        paths = [str(Path(store.storage.opened(file.path)).absolute()) for file in files if store.storage.folder]
        if not store.storage.folder:
            for number, file in enumerate(files):
                if time.monotonic() > self._until:
                    raise self._too_late()
                path = Path(self._folder.name, f"{store.cluster}-{table.name}-{number}.parquet".replace("/", "_"))
                store.storage.copy(file.path, path)
                paths.append(str(path))
        self._call("load_paths", table, paths, sum(file.rows for file in files))

    def define(self, name: str, query: str, table: Table | None = None) -> None:
        self._call("define", name, query, table)

    def rename(self, name: str, new: str) -> None:
        self._call("rename", name, new)

    def unite(self, name: str, column: str, parts: Mapping[str, str]) -> None:
        self._call("unite", name, column, dict(parts))

    def literal(self, value: Value) -> str:
        return sql_literal(value)

    def fetch(self, query: str) -> pa.Table:
        """Run a query of kgroups."""
        return self._call("fetch", query)

    def ask(self, query: str) -> pa.Table:
        return plain(self._call("ask_sealed", query, self._tables))

    def _call(self, name: str, *arguments: Any) -> pa.Table:
        """Call a method in the process; return its rows, none if it has no result."""
        try:
            self._connection.send_bytes(pickle.dumps((name, arguments)))
            head = json.loads(self._connection.recv_bytes(_LONGEST_HEAD))
            rows = self._connection.recv_bytes(LARGEST * 2) if head["rows"] else None
        except (EOFError, OSError):
            raise self._why() from None
        if "error" in head:
            kind = UsageError if head["usage"] else HistoryError
            raise kind(head["error"], hint=head["hint"])
        self.has_more = bool(head.get("more"))
        return pa.table({}) if rows is None else pa.ipc.open_stream(rows).read_all()

    def _why(self) -> KgroupsError:
        """Return why the process does not respond."""
        code = self._end()
        if self._late:
            return self._too_late()
        ended = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return HistoryError(f"the process of the query ended with {ended}, for example by lack of memory", hint=SMALLER)

    def _too_late(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"the query took longer than {self._seconds:g} s", hint=SMALLER)

    def _end(self) -> int:
        """End the process, and return its exit code."""
        self._ended.set()
        self._watchdog.join()
        if self._process.returncode is None:  # otherwise, its ID may be that of another
            self._kill()
        return self._process.wait()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _kill_late(self) -> None:
        if not self._ended.wait(max(0.0, self._until - time.monotonic())):
            self._late = True
            self._kill()
