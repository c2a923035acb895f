"""Read the file of ``--from-file`` and select the groups to apply it to."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.counts import count
from kgroups.model.operations.origin import Mismatch
from kgroups.model.operations.plan_file import parse_plan
from kgroups.model.operations.plan_row import PlanFile
from kgroups.model.operations.reset import FromPlan
from kgroups.model.snapshot.snapshot import Snapshot

LARGEST = 1024**3
"""Bytes, about eight million offsets. Undo files are never larger, because they could not be read back."""
_CHUNK = 1024**2
_STDIN = Path("-")


def read_plan(path: Path) -> PlanFile:
    """Read a plan; ``-`` is standard input.

    :raises UsageError: if the file cannot be read, is too large, or is not a plan; the text names the line.
    """
    name = name_of(path)
    return parse_plan(read_text(path), f"--from-file: {name}")._replace(name=name)


def name_of(path: Path) -> str:
    """Return the name of a file for messages."""
    return "standard input" if path == _STDIN else str(path)


def read_text(path: Path, name: str | None = None) -> str:
    """Return the content of a file; ``-`` is standard input.

    :param name: for errors; ``None``: that of ``--from-file``.
    :raises UsageError: if the file cannot be read, is too large, or is not UTF-8; the text names the line.
    """
    name = name or f"--from-file: {name_of(path)}"
    try:
        data = _read(path)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from None
    if data is None:
        raise UsageError(f"{name}: larger than {LARGEST // 1024**2:,} MiB; split it into several files")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}, line {line}: not UTF-8") from None


def _read(path: Path) -> bytearray | None:
    """Return the content, or ``None`` if it is too large; a pipe has no size and is read up to the limit."""
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
    plan: PlanFile, selection: Selection | None, accepted: Collection[str] = ()
) -> tuple[FromPlan, Selection, tuple[str, ...]]:
    """Return the plan for the selected groups, these groups by name, and notices about the other groups.

    :param selection: the selected groups; ``None``: all groups of the file.
    :param accepted: values of ``--accept-mismatch``.
    :raises UsageError: if the file has no entries for a named group, if no group of the file is selected, or if the
        file contains no group names and ``--group`` does not name exactly one.
    """
    mismatches = tuple(map(Mismatch, accepted))
    if not plan.groups:
        names = selection.names if selection and not selection.needs_list else ()
        if len(names) != 1:
            raise UsageError(f"--from-file: {plan.name} names no group (three columns): use exactly one --group")
        return plan.scenario(names[0], mismatches), Selection(names), ()
    groups = plan.groups
    chosen = chosen_in_file(groups, plan.name, selection)
    skipped = len(groups) - len(chosen)
    notices = (f"{count(skipped, 'group')} of {plan.name} skipped: not selected",) if skipped else ()
    # Rows of other groups are dropped before they are checked: they may name deleted topics, or conflict.
    selected = plan._replace(rows=tuple(row for row in plan.rows if row.group in chosen))
    return selected.scenario(None, mismatches), Selection(tuple(chosen)), notices


def chosen_in_file(groups: Sequence[str], file: str, selection: Selection | None) -> dict[str, None]:
    """Return the selected groups of a file, in its order; ``None`` selects all.

    :raises UsageError: if the file has no entries for a named group, or no group of the file is selected.
    """
    selection = selection.settled(groups) if selection else None
    for failure in selection.unmatched_globs(groups) if selection else ():
        raise UsageError(f"--from-file: no group of {file} matches {failure.name!r}")
    _check_listed(selection.names if selection else (), frozenset(groups), file)
    chosen = chosen_groups(groups, selection)
    if not chosen:
        raise UsageError(f"--from-file: no group of {file} is selected")
    return chosen


def chosen_in_snapshot(snapshot: Snapshot, file: Path, selection: Selection | None) -> dict[str, None]:
    """Return the selected groups of a snapshot; ``None`` selects all.

    :raises UsageError: if it has no group of a name or pattern, or none is selected.
    """
    names = snapshot.names
    selection = selection.settled(frozenset(names)) if selection else None
    for failure in selection.unmatched_globs(names) if selection else ():
        raise UsageError(f"{file}: no group matches {failure.name!r}")
    snapshot.check_names(selection.names if selection else (), str(file))
    found = chosen_groups(names, selection)
    if not found:
        raise UsageError(f"{file}: no group is selected" if names else f"{file}: the snapshot contains no groups")
    return found


def chosen_groups(groups: Sequence[str], selection: Selection | None) -> dict[str, None]:
    """Return the selected groups of a file, in its order; ``None`` selects all."""
    named = frozenset(selection.names) if selection else frozenset()
    patterns = selection._replace(names=()) if selection and selection.needs_list else None
    return dict.fromkeys(
        name for name in groups if selection is None or name in named or (patterns and patterns.matches(name))
    )


def _check_listed(names: Sequence[str], groups: Collection[str], file: str) -> None:
    for name in names:
        if name not in groups:
            raise UsageError(f"--group: {file} has no entries for group '{name}'")
