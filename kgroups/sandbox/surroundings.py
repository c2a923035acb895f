"""What a cluster may need around it before its brokers start: files that they read, servers that they ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Site(NamedTuple):
    """Where a cluster is about to start."""

    folder: Path
    """Its own, with nothing in it but ``logs/``; no other user can look into it."""
    java: str
    spawn: Callable[[str, Sequence[str]], int]
    """Role, command: starts a helper, which goes down with the sandbox, and returns its pid."""


class Extras(NamedTuple):
    """What the brokers are to be told of it."""

    properties: Mapping[str, str] = {}
    """Server settings."""
    options: tuple[str, ...] = ()
    """For the JVM of every broker and tool."""


Prepare = Callable[[Site], Extras]
"""Called once for each attempt to start, each time with a new folder."""


def nothing(_: Site) -> Extras:
    return Extras()
