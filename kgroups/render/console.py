"""Open a rich console on a stream, for what is drawn with rich."""

from __future__ import annotations

import os
from typing import Literal, TextIO

from rich.console import Console

from .color import chosen_color


def console_on(stream: TextIO) -> Console:
    """Return a rich console on a stream, without interpreting markup in texts; with NO_COLOR without any style."""
    chosen = chosen_color()
    system: Literal["auto", "standard"] | None = "auto"
    if chosen is False or (chosen is None and os.environ.get("NO_COLOR")):
        system = None
    elif chosen:
        system = "auto" if stream.isatty() else "standard"
    return Console(
        file=stream,
        color_system=system,
        force_terminal=chosen or None,
        no_color=False if chosen else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
