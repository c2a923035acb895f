"""A progress line on the terminal, for commands that take longer than a second."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from .exit_status import is_quiet

DELAY = 1.0
"""Seconds until the line is first shown."""

INTERVAL = 0.2
"""Seconds between two updates."""

_shown = False
"""Whether the line is on the terminal now."""


def wipe() -> None:
    """Clear the progress line if it is on the terminal, so that other text can be written there."""
    global _shown
    if _shown:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
        _shown = False


class ProgressLine:
    """The text of the line: ``str(status)``, evaluated at each update; the body of the block sets ``status``.

    :ivar parts: the lines of several clusters that are shown in its place.
    """

    status: object = "connecting"
    parts: Sequence[ProgressLine] = ()

    def __str__(self) -> str:
        return "; ".join(map(str, self.parts)) or str(self.status)


@asynccontextmanager
async def progress_line(quiet: bool = False) -> AsyncIterator[ProgressLine]:
    """Show the line while the block runs, and wipe it afterwards.

    Show nothing if ``quiet``, if stderr is not a terminal, or if the terminal cannot erase a line (``TERM=dumb``).
    """
    line = ProgressLine()
    if quiet or is_quiet() or not sys.stderr.isatty() or os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
        yield line
        return
    task = asyncio.ensure_future(_show(line))
    try:
        yield line
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _show(progress: ProgressLine) -> None:
    global _shown
    await asyncio.sleep(DELAY)
    import shutil  # not at the top: it imports every compression module, which short commands do not need

    try:
        while True:
            line = f"kgroups: {progress}"[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()
            _shown = True
            await asyncio.sleep(INTERVAL)
    finally:
        wipe()
