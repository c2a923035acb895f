"""Whether text on a terminal may have colors."""

from __future__ import annotations

import os


def color_is_wanted() -> bool:
    """Return whether the environment allows colors: not with NO_COLOR, and not on a dumb terminal."""
    return os.environ.get("TERM", "").lower() not in ("dumb", "unknown") and not os.environ.get("NO_COLOR")
