"""Measure whole processes, from start to exit."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_KIB = 1 if sys.platform == "darwin" else 1024
"""Unit of ``ru_maxrss`` in bytes: kibibytes on Linux."""


class Run(NamedTuple):
    """One process: wall clock seconds, CPU seconds, peak memory in bytes."""

    wall: float
    cpu: float
    rss: int


class Failed(Exception):
    """A contender failed; its measurements are invalid."""


def measure(command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None) -> Run:
    """Run a command with its standard output in a file.

    :raises Failed: if its exit code is not 0, with the end of its standard error.
    """
    errors = output.with_suffix(".err")
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(output), write, 0o644),
        (os.POSIX_SPAWN_OPEN, 2, str(errors), write, 0o644),
    ]
    began = time.perf_counter()
    pid = os.posix_spawn(command[0], list(command), environment or os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    if status:
        last_lines = errors.read_text(errors="replace").splitlines()[-10:]
        raise Failed("\n".join([f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(command)}", *last_lines]))
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _KIB)


def memory_floor() -> int:
    """Return the minimum measurable peak in bytes: a child starts as a copy of this process, which counts as well."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
