"""Seed a sandbox once: the plan is recorded in the sandbox's folder, and deleted with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgroups.errors import SandboxError

from .cluster import Sandbox


def seed_once(sandbox: Sandbox, what: str, plan: Any, make: Callable[[], None]) -> bool:
    """Call ``make`` for this ``plan`` (any JSON value); return ``False`` if the same plan is complete already.

    :raises SandboxError: when another plan was executed before, or one was not completed.
    """
    note = sandbox.folder / f"seeded-{what}.json"
    if note.exists():
        return _same(note, sandbox, what, plan)
    _write(note, plan, finished=False)
    make()
    _write(note, plan, finished=True)
    return True


def _write(note: Path, plan: Any, *, finished: bool) -> None:
    note.write_text(json.dumps({"plan": plan, "finished": finished}) + "\n")


def _same(note: Path, sandbox: Sandbox, what: str, plan: Any) -> bool:
    before = json.loads(note.read_text())
    fix = f"stop it and start it again first (kgroups sandbox down --name {sandbox.name})"
    if not before["finished"]:
        raise SandboxError(f"seeding of sandbox {sandbox.name} with the {what} groups was not completed; {fix}")
    if before["plan"] != json.loads(json.dumps(plan)):
        raise SandboxError(f"sandbox {sandbox.name} already has other {what} groups ({before['plan']}); {fix}")
    return False
