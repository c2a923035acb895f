"""Warn of files with secrets that other users can read."""

from __future__ import annotations

import stat
from pathlib import Path

_OTHERS = stat.S_IRGRP | stat.S_IROTH


def permission_warning(path: Path, what: str) -> str | None:
    """Return a warning; ``None`` if only the owner can read the file, or it is not a regular file, such as a pipe."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or not status.st_mode & _OTHERS:
        return None
    who = "all users" if status.st_mode & stat.S_IROTH else "the group"
    return f"{path} contains {what} and is readable by {who}; run chmod 600 {path}"
