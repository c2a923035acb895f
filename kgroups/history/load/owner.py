"""Who collects into a store, so that a second collector can name the first.

This lease only serves the message. The manifest guarantees safety: of two writers, one cannot create its entry. Each
owner has a file of its own, created on the condition that its number is free, and renews it while it runs.
"""

from __future__ import annotations

import os
import socket
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from kgroups.errors import HistoryError

from .store import Store

LEASE = timedelta(seconds=60)
"""How long a collector that stopped renewing its lease keeps the store; on this machine, while its process runs."""
RENEW = 15.0
"""Seconds between two renewals of the lease."""

PREFIX = "_owner-"


class Owner:
    """A context that owns the collection of one cluster's history."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._since = _now()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="kgroups-owner", daemon=True)
        self._name = ""

    def __enter__(self) -> Owner:
        """Take the store.

        :raises HistoryError: if another collector has it; the message says which one, and since when.
        """
        names = self._store.names(PREFIX)
        last = names[-1] if names else None
        if last:
            self._check_free(last)
        number = (
            max((int(each.removeprefix(PREFIX)) for each in names if each[len(PREFIX) :].isdecimal()), default=-1) + 1
        )
        self._name = f"{PREFIX}{number:08}"
        if not self._store.create_json(self._name, self._state()):
            raise HistoryError(f"store {self._store.shown}: another collector started at this moment; try again")
        self._store.delete_json(names)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()
        try:
            self._store.delete_json([self._name])
        except HistoryError:
            if error is None:
                raise

    def _check_free(self, name: str) -> None:
        data = self._store.read_json(name)
        if data is None:
            return
        try:
            host, pid, until = data["host"], int(data["pid"]), datetime.fromisoformat(data["until"])
            is_free = until < _now() or (host == socket.gethostname() and _is_dead(pid, data["started"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise self._store.damaged(f"{name}.json", "it does not name a collector; delete it") from None
        if is_free:
            return
        raise HistoryError(
            f"store {self._store.shown}: another collector has it: process {pid} on {host}, since {data.get('since')}; "
            f"stop that one. If it is dead, the store is free at {until:%Y-%m-%dT%H:%M:%SZ}"
        )

    def _state(self) -> dict[str, Any]:
        return {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": _started(os.getpid()),
            "since": self._since.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "until": (_now() + LEASE).isoformat(timespec="seconds"),
        }

    def _renew(self) -> None:
        while not self._stopped.wait(RENEW):
            try:
                self._store.replace_json(self._name, self._state())
            except HistoryError:
                continue  # the collector itself reports a store that cannot be written


def _now() -> datetime:
    return datetime.now(UTC)


def _is_dead(pid: int, started: str | None) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return started != _started(pid)


def _started(pid: int) -> str | None:
    """Return when a process started, in the kernel's terms; ``None`` where that is unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None
