"""The sandbox's folders in the user's home (XDG), and their locks."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgroups.errors import SandboxError


def jar_cache() -> Path:
    """Return the cache of fetched jars, one folder per version; it can be deleted at any time."""
    return _home_folder("XDG_CACHE_HOME", ".cache") / "kgroups" / "kafka"


def compiled_programs() -> Path:
    """Return the folder of compiled Java programs; it can be deleted at any time."""
    return _home_folder("XDG_CACHE_HOME", ".cache") / "kgroups" / "programs"


def port_notes() -> Path:
    """Return the folder of reserved ports, one empty file per port; it can be deleted at any time."""
    return _home_folder("XDG_CACHE_HOME", ".cache") / "kgroups" / "ports"


def state_root() -> Path:
    """Return the folder of running sandboxes, one folder per name."""
    return _home_folder("XDG_STATE_HOME", ".local/state") / "kgroups" / "sandbox"


def _home_folder(variable: str, default: str) -> Path:
    # XDG requires to ignore relative paths in these variables.
    value = Path(os.environ.get(variable, ""))
    return value if value.is_absolute() else Path.home() / default


@contextmanager
def locked(path: Path, *, busy: str | None = None) -> Iterator[None]:
    """Hold the lock file ``path``; the kernel releases it when the process ends.

    The holder may delete the file.

    :raises SandboxError: with the message ``busy``, when another process holds it; without ``busy``, wait.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
            except BlockingIOError:
                raise SandboxError(str(busy)) from None
            # If it was deleted during the wait, another process could create and lock a new file of that name.
            if _is_still_at(path, lock.fileno()):
                yield
                return


def _is_still_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
