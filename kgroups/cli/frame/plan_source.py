"""The file that ``--from-file`` names, as a plan for some groups."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgroups.errors import UsageError
from kgroups.model.counts import count

if TYPE_CHECKING:
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.operations.plan_row import PlanFile
    from kgroups.model.operations.reset import FromPlan

LARGEST = 1024**3
"""Bytes; some eight million offsets. No undo is written that is larger: it could not be read back."""
_CHUNK = 1024**2
_STDIN = Path("-")


def read_plan(path: Path) -> PlanFile:
    """:raises UsageError: when it cannot be read, is too large, or is no plan; the text names the line."""
    from kgroups.model.operations.plan_file import parse_plan

    name = f"--from-file: {path}"
    try:
        data = _read(path)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
    if data is None:
        raise UsageError(f"{name}: larger than {LARGEST // 1024**2:,} MiB; split it into several files")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}, line {line}: not UTF-8") from None
    return parse_plan(text, name)._replace(name=str(path))


def _read(path: Path) -> bytearray | None:
    """``None``: it is too large. What has no size, as a pipe, is read piece by piece until it is."""
    data = bytearray()
    with open(0, "rb", closefd=False) if path == _STDIN else path.open("rb") as file:
        if path != _STDIN and os.fstat(file.fileno()).st_size > LARGEST:
            return None
        while chunk := file.read(_CHUNK):
            data += chunk
            if len(data) > LARGEST:
                return None
    return data


def plan_for(
    plan: PlanFile, path: Path, selection: Selection | None, accepted: Collection[str] = ()
) -> tuple[FromPlan, Selection, tuple[str, ...]]:
    """What the file says of the groups that are meant, these groups by name, and what is left out of it.

    :param selection: the groups that were chosen; ``None``: all that the file names.
    :param accepted: values of ``--accept-mismatch``.
    :raises UsageError: when a group was named that is not in the file, or the file names none and not one was named.
    """
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.operations.origin import Mismatch

    anyway = tuple(map(Mismatch, accepted))
    if not plan.groups:
        names = selection.names if selection and not selection.needs_list else ()
        if len(names) != 1:
            raise UsageError(f"--from-file: {path} names no group (three columns): use exactly one --group")
        return plan.scenario(names[0], anyway), Selection(names), ()
    there = plan.groups
    _all_there(selection.names if selection else (), frozenset(there), path)
    chosen = _chosen(there, selection)
    left = len(there) - len(chosen)
    notices = (f"{count(left, 'group')} of {path} left out: not selected",) if left else ()
    if not chosen:
        raise UsageError(f"--from-file: no group of {path} is selected")
    # The others' rows may name what is gone, or contradict each other: no matter.
    kept = plan._replace(rows=tuple(row for row in plan.rows if row.group in chosen))
    return kept.scenario(None, anyway), Selection(tuple(chosen)), notices


def _chosen(there: Sequence[str], selection: Selection | None) -> dict[str, None]:
    """In their order."""
    named = frozenset(selection.names) if selection else frozenset()
    rest = selection._replace(names=()) if selection and selection.needs_list else None
    return dict.fromkeys(name for name in there if selection is None or name in named or (rest and rest.matches(name)))


def _all_there(names: Sequence[str], there: Collection[str], path: Path) -> None:
    for name in names:
        if name not in there:
            raise UsageError(f"--group: {path} has no entries for group '{name}'")
