"""One line on a terminal's stderr that tells how far a command is, once it has taken longer than a second."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

DELAY = 1.0
INTERVAL = 0.2


_shown = False
"""Whether the line is on the terminal at this moment."""


def wipe() -> None:
    """Clear the progress line if it is on the terminal, so that other text can be written there."""
    global _shown
    if _shown:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
        _shown = False


class ProgressLine:
    """What the line says: ``str(what)``, looked at anew each time. The body sets it as it gets on."""

    status: object = "connecting"


@asynccontextmanager
async def progress_line(quiet: bool = False) -> AsyncIterator[ProgressLine]:
    """Shows the line while the body runs and wipes it after; nothing where stderr is no terminal, or one that cannot
    wipe (``TERM=dumb``), or with ``quiet``."""
    line = ProgressLine()
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM", "").lower() in ("dumb", "unknown"):
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
    import shutil  # it loads every kind of compression: too much for a command that has already ended

    try:
        while True:
            line = f"kgroups: {progress.status}"[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()
            _shown = True
            await asyncio.sleep(INTERVAL)
    finally:
        wipe()
