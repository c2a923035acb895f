"""``kgroups snapshot diff``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..frame.options import ConnectionOptions
from ..frame.output import Shape
from ..frame.selected_groups import GroupOptions
from ..query.comparison import Side, file_side, show_differences


def diff(
    connection: Callable[[], ConnectionOptions],
    shape: Shape,
    only: tuple[str, ...],
    groups: tuple[str, ...],
    regex: str | None,
    file: Path,
    other: Path | None,
) -> int:
    """Run ``kgroups snapshot diff``; return the exit code."""
    first = file_side(file)
    debug = False
    if other is None:
        options = connection()
        debug = options.debug
        second = Side(options.settings.bootstrap_servers, settings=options.settings)
    else:
        second = file_side(other)
    return show_differences((first, second), shape, only, GroupOptions((), groups, regex, False), debug=debug)
