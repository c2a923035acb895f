"""Read the file of ``settings diff`` and ``settings set``, and select its groups."""

from __future__ import annotations

from pathlib import Path

from kgroups.admin.query.pattern import Glob
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.operations.undo_file import SETTINGS_SCHEMA, begins_undo
from kgroups.model.settings.declared import Declared, parse_declared
from kgroups.model.settings.undo import Restored, parse_undo

from ..change.plan_source import read_text
from ..frame.selected_groups import GroupOptions


def read_declared(path: Path, *, exact: bool) -> Declared:
    """Read a TOML file.

    :raises UsageError: if it is an undo file, or cannot be read.
    """
    found = read_any(path)

    if not isinstance(found, Declared):
        raise UsageError(f"--from-file: {path} is an undo file; use kgroups undo")
    return found._replace(exact=exact)


def read_any(path: Path) -> Declared | Restored:
    """Read a TOML file or an undo file.

    :raises UsageError: if it is neither, or cannot be read.
    """
    text = read_text(path)
    if begins_undo(text, SETTINGS_SCHEMA):
        return parse_undo(text, str(path))
    if begins_undo(text):
        raise UsageError(f"--from-file: {path} has committed offsets; use kgroups undo")
    return parse_declared(text, str(path))


def groups_of(declared: Declared, chosen: GroupOptions) -> Selection:
    """Return the selected groups, by default those of the file; a glob of the file may match none."""
    if chosen.any_given:
        return chosen.selection()
    return Selection(declared.names, Glob(*declared.globs) if declared.globs else None)
