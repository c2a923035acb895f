"""Read the file of ``settings diff`` and ``settings set``, and select its groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgroups.errors import UsageError

from ..change.plan_source import read_text
from ..frame.group_options import GroupOptions

if TYPE_CHECKING:
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.settings.declared import Declared
    from kgroups.model.settings.undo import Restored

F = TypeVar("F", bound=Callable[..., Any])

exact_option = click.option(
    "--exact", is_flag=True, help="Groups of the file must have no values of their own that are not in it."
)


def file_option(help: str, *, required: bool = False) -> Callable[[F], F]:
    """Return the option that names the file."""
    return click.option(
        "-f",
        "--from-file",
        type=click.Path(path_type=Path, allow_dash=True),
        metavar="FILE",
        required=required,
        help=help,
    )


def read_declared(path: Path, *, exact: bool) -> Declared:
    """Read a TOML file.

    :raises UsageError: if it is an undo file, or cannot be read.
    """
    found = read_any(path)
    from kgroups.model.settings.declared import Declared

    if not isinstance(found, Declared):
        raise UsageError(f"--from-file: {path} is an undo file; use kgroups settings set --from-file")
    return found._replace(exact=exact)


def read_any(path: Path) -> Declared | Restored:
    """Read a TOML file or an undo file.

    :raises UsageError: if it is neither, or cannot be read.
    """
    from kgroups.model.operations.undo_file import SETTINGS_SCHEMA, begins_undo
    from kgroups.model.settings.declared import parse_declared
    from kgroups.model.settings.undo import parse_undo

    text = read_text(path)
    if begins_undo(text, SETTINGS_SCHEMA):
        return parse_undo(text, str(path))
    if begins_undo(text):
        raise UsageError(f"--from-file: {path} has committed offsets; use kgroups reset-offsets --from-file")
    return parse_declared(text, str(path))


def groups_of(declared: Declared, chosen: GroupOptions) -> Selection:
    """Return the selected groups, by default those of the file; a glob of the file may match none."""
    from kgroups.admin.query.pattern import Glob
    from kgroups.admin.query.select_groups import Selection

    if chosen.any_given:
        return chosen.selection()
    return Selection(declared.names, Glob(*declared.globs) if declared.globs else None)
