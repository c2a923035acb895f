"""``kgroups config show``."""

from __future__ import annotations

from kgroups.model.outcome import Outcome
from kgroups.render.check_view import SETTINGS

from ..frame.options import ConnectionOptions
from ..frame.output import Shape, show


def show_settings(connection: ConnectionOptions, shape: Shape) -> int:
    """Run ``kgroups config show``; return the exit code."""
    shape.check(SETTINGS)
    return show(Outcome(connection.effective_settings), None, shape, SETTINGS)
