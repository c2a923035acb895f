"""The benchmark cluster: three real brokers and thousands of groups, half of them with a member."""

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


def ensure_cluster(size: Size, lean: Lean, progress: Callable[[str], None]) -> Sandbox:
    """Return a cluster of this size; reuse a running one if it has this size.

    :raises SandboxError: if it cannot be created.
    """
    if _is_up() and _seed(size, lean).returncode == 0:
        return Sandbox.load(NAME)
    take_down()
    sandbox = Sandbox.up(VERSION, BROKERS, name=NAME, progress=progress)
    progress(f"creating {size}")
    seeded = _seed(size, lean)
    if seeded.returncode:
        raise SandboxError(f"{size} could not be created: {seeded.stderr.strip()}")
    return sandbox


def _is_up() -> bool:
    # after a restart of the machine the state file still exists, and seed would trust it
    return NAME in Sandbox.names() and set(Sandbox.load(NAME).status().brokers.values()) == {"running"}


def take_down() -> None:
    if NAME in Sandbox.names():
        Sandbox.load(NAME).down()


def _seed(size: Size, lean: Lean) -> subprocess.CompletedProcess[str]:
    """Create the groups, unless they already exist; fail if there are other groups."""
    shape = ("--groups", str(size.groups), "--partitions", str(size.partitions))
    command = (lean.kgroups, "sandbox", "seed", "--name", NAME, *shape)
    return subprocess.run(command, capture_output=True, text=True, check=False)
