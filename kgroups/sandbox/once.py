"""A sandbox is seeded once: what was made is noted in its folder, and goes with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgroups.errors import SandboxError
from kgroups.sandbox.cluster import Sandbox


def seed_once(sandbox: Sandbox, what: str, plan: Any, make: Callable[[], None]) -> bool:
    """Makes ``what`` after ``plan`` (anything JSON); ``False`` when this very plan was carried out before.

    :raises SandboxError: when another plan was, or one was begun and not finished.
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
    way_out = f"take it down and up again first (kgroups sandbox down --name {sandbox.name})"
    if not before["finished"]:
        raise SandboxError(
            f"seeding of sandbox {sandbox.name} with the {what} groups was begun and not finished; {way_out}"
        )
    if before["plan"] != json.loads(json.dumps(plan)):
        raise SandboxError(f"sandbox {sandbox.name} has other {what} groups already ({before['plan']}); {way_out}")
    return False
