"""Whether text may have colors."""

from __future__ import annotations

import os
from typing import TextIO

_chosen: bool | None = None


def choose_color(choice: bool | None) -> None:
    """Set the choice of the user for the next output; ``None``: the environment and the stream decide."""
    global _chosen
    _chosen = choice


def chosen_color() -> bool | None:
    """Return the choice of the user."""
    return _chosen


def color_is_wanted() -> bool:
    """Return whether text on a terminal has colors; by default, not with NO_COLOR or on a dumb terminal."""
    if _chosen is not None:
        return _chosen
    return os.environ.get("TERM", "").lower() not in ("dumb", "unknown") and not os.environ.get("NO_COLOR")


def has_color(stream: TextIO) -> bool:
    """Return whether text on this stream has colors."""
    return color_is_wanted() and (stream.isatty() or _chosen is True)
