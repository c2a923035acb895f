"""Named pipes, and a shell's ``<(...)``: read to their end, but not waited for without one."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path

PATIENCE = 30.0
"""Seconds that the writer may let us wait; asking somebody's vault takes some."""


def read(path: Path, most: int) -> bytes:
    """What comes out of a pipe, and no more than ``most`` bytes.

    :raises TimeoutError: when nobody writes, or does not come to an end.
    :raises OSError: when it cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # else opening it waits for a writer
    try:
        return _all(handle, most, time.monotonic() + PATIENCE)
    finally:
        os.close(handle)


def _all(handle: int, most: int, end: float) -> bytes:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    data, begun = b"", False
    while len(data) < most:
        try:
            part = os.read(handle, most - len(data))
        except BlockingIOError:  # somebody holds the other side, and is silent
            part, begun = None, True
        if part:
            data += part
            continue
        if part == b"" and (data or begun):
            return data
        if time.monotonic() > end:
            raise TimeoutError
        poll.poll(50)
    return data
