"""Read named pipes, such as a shell's ``<(...)``, to their end, within a time limit."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path

TIMEOUT = 30.0
"""Seconds to wait for the writer, which may have to query a secret store."""


def read(path: Path, limit: int) -> bytes:
    """Return the contents of a pipe, at most ``limit`` bytes.

    :raises TimeoutError: if no process writes to the pipe, or the writer does not close it.
    :raises OSError: if it cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a blocking open would wait for a writer
    try:
        return _read_all(handle, limit, time.monotonic() + TIMEOUT)
    finally:
        os.close(handle)


def _read_all(handle: int, limit: int, end: float) -> bytes:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    data, connected = b"", False
    while len(data) < limit:
        try:
            part = os.read(handle, limit - len(data))
        except BlockingIOError:  # a writer has the pipe open, but has written nothing
            part, connected = None, True
        if part:
            data += part
            continue
        if part == b"" and (data or connected):
            return data
        if time.monotonic() > end:
            raise TimeoutError
        poll.poll(50)
    return data
