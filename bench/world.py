"""The cluster that everybody is asked about: three real brokers, thousands of groups, half of them with a member."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import NamedTuple

from kgroups.errors import SandboxError
from kgroups.sandbox import Sandbox

from .lean import Lean

NAME = "bench"
BROKERS = 3
VERSION = "4.3.1"


class Size(NamedTuple):
    groups: int
    partitions: int

    @property
    def rows(self) -> int:
        return self.groups * self.partitions

    def __str__(self) -> str:
        return f"{self.groups:,} groups x {self.partitions} partitions"


def ensure_world(size: Size, lean: Lean, progress: Callable[[str], None]) -> Sandbox:
    """A cluster of that size; the one that is up, where it is that.

    :raises SandboxError: when it cannot be made.
    """
    if _is_up() and _seed(size, lean).returncode == 0:
        return Sandbox.load(NAME)
    take_down()
    sandbox = Sandbox.up(VERSION, BROKERS, name=NAME, progress=progress)
    progress(f"making {size}")
    seeded = _seed(size, lean)
    if seeded.returncode:
        raise SandboxError(f"{size} could not be made: {seeded.stderr.strip()}")
    return sandbox


def _is_up() -> bool:
    # A machine that was restarted leaves the state behind, and seed would take the word of it.
    return NAME in Sandbox.names() and set(Sandbox.load(NAME).status().brokers.values()) == {"running"}


def take_down() -> None:
    if NAME in Sandbox.names():
        Sandbox.load(NAME).down()


def _seed(size: Size, lean: Lean) -> subprocess.CompletedProcess[str]:
    """Does nothing where the groups are there already, and fails where others are."""
    shape = ("--groups", str(size.groups), "--partitions", str(size.partitions))
    command = (lean.kgroups, "sandbox", "seed", "--name", NAME, *shape)
    return subprocess.run(command, capture_output=True, text=True, check=False)
