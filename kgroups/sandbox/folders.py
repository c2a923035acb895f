"""Where the sandbox keeps things in the user's home (XDG), and the locks on them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgroups.errors import SandboxError


def jar_cache() -> Path:
    """Fetched jars, a folder for each version; may be deleted at any time."""
    return _home_folder("XDG_CACHE_HOME", ".cache") / "kgroups" / "kafka"


def port_notes() -> Path:
    """Which ports were given to sandboxes, and when: an empty file for each; may be deleted at any time."""
    return _home_folder("XDG_CACHE_HOME", ".cache") / "kgroups" / "ports"


def state_root() -> Path:
    """Running sandboxes, a folder for each name."""
    return _home_folder("XDG_STATE_HOME", ".local/state") / "kgroups" / "sandbox"


def _home_folder(variable: str, default: str) -> Path:
    # The XDG rule: a relative path in these variables is to be ignored.
    value = Path(os.environ.get(variable, ""))
    return value if value.is_absolute() else Path.home() / default


@contextmanager
def locked(path: Path, *, busy: str | None = None) -> Iterator[None]:
    """Hold the lock file ``path``; the kernel releases it when the process ends, however it ends.

    Who holds it may delete it.

    :raises SandboxError: with the text ``busy``, when another holds it; without that text, waits.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
            except BlockingIOError:
                raise SandboxError(str(busy)) from None
            # Deleted while this process waited for it: the next comer would make, and hold, another file of that name.
            if _is_still_at(path, lock.fileno()):
                yield
                return


def _is_still_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
