"""Prerequisites of a cluster, created before its brokers start: files that they read, servers that they use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Site(NamedTuple):
    """The environment of a cluster before its start."""

    folder: Path
    """The cluster's folder, which contains only ``logs/``; other users cannot read it."""
    java: str
    spawn: Callable[[str, Sequence[str]], int]
    """Role, command: start a helper, which is stopped with the sandbox, and return its PID."""


class Extras(NamedTuple):
    """Settings that result from the prerequisites."""

    properties: Mapping[str, str] = {}
    """Server settings."""
    options: tuple[str, ...] = ()
    """Options of the JVM of every broker and tool."""


Prepare = Callable[[Site], Extras]
"""Called for each attempt to start, each time with a new folder."""


def nothing(_: Site) -> Extras:
    return Extras()
