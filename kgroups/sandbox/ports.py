"""Free loopback ports."""

from __future__ import annotations

import random
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from kgroups.errors import SandboxError

from .folders import port_notes

HOST = "127.0.0.1"

# Below the range that Linux and macOS use for outgoing connections. A port in that range (as from binding to 0) can be
# taken by any client while its broker is down, and a client that keeps trying a dead broker on the same machine can
# even connect to itself.
_RANGE = range(20_000, 30_000)

_KEPT: Final = 3600.0
"""Seconds for which a port is reserved: its server may not have started yet, or may be down for a moment."""


class ReservedPorts:
    """Ports that are bound, so that no other process takes them; call :meth:`release` just before the servers start."""

    def __init__(self, count: int) -> None:
        """Reserve ``count`` ports.

        :raises SandboxError: when there are fewer free ones.
        """
        self._sockets: list[socket.socket] = []
        notes = port_notes()
        with suppress(OSError):  # ports can be reserved without notes
            notes.mkdir(parents=True, exist_ok=True)
        for port in random.sample(_RANGE, len(_RANGE)):
            if len(self._sockets) == count:
                break
            if _note(notes / str(port)):
                self._try(port)
        if len(self._sockets) < count:
            self.release()
            raise SandboxError(f"fewer than {count} free ports between {_RANGE.start} and {_RANGE.stop}")
        self.numbers: list[int] = [held.getsockname()[1] for held in self._sockets]

    def _try(self, port: int) -> None:
        candidate = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            candidate.bind((HOST, port))
        except OSError:
            candidate.close()
        else:
            self._sockets.append(candidate)

    def release(self) -> None:
        for held in self._sockets:
            held.close()
        self._sockets.clear()

    def take(self) -> socket.socket:
        """Return the socket of one port, bound, for a server of this process."""
        return self._sockets.pop()


def _note(file: Path) -> bool:
    """Record that a port is reserved; return false if it was reserved recently."""
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        with suppress(OSError):
            if time.time() - file.stat().st_mtime < _KEPT:
                return False
            file.touch()
    except OSError:
        pass
    return True
