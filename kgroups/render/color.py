"""Whether text may have colors, and the colors of severities."""

from __future__ import annotations

import os
from enum import Enum
from typing import TextIO

_chosen: bool | None = None

_SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_OF_SEVERITIES = {"CRITICAL": "bold red", "PROBLEM": "bold red", "WARNING": "bold yellow", "OK": "green"}


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


def severity_style(severity: Enum) -> str:
    """Return the style of a severity of a status, check, finding, or verdict; what is unknown has none."""
    return _OF_SEVERITIES.get(severity.name, "")


def styled(text: str, style: str) -> str:
    """Return text for a terminal in a style, such as ``bold red``; the empty one leaves it as it is."""
    return f"\x1b[{';'.join(_SGR[word] for word in style.split())}m{text}\x1b[0m" if style else text
