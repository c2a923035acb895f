"""``kgroups settings unset``."""

from __future__ import annotations

from pathlib import Path

from kgroups.errors import UsageError
from kgroups.model.settings.change import UnsetAll

from ..change.apply_plan import apply_plan
from ..change.change_settings import ChangeSettings
from ..change.confirmation import Confirmation
from ..frame.options import ConnectionOptions, split_values
from ..frame.output import Shape
from ..frame.selected_groups import GroupOptions


def unset(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    chosen: GroupOptions,
    keys: str,
) -> int:
    """Run ``kgroups settings unset``; return the exit code."""
    names = split_values((keys,))
    if not names:
        raise UsageError("no settings: use KEY[,KEY]... before the groups")
    operation = ChangeSettings(chosen.selection(), UnsetAll(names), undo_file)
    return apply_plan(connection, shape, confirmation, operation)
