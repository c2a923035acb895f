"""Warns of files with secrets that others than their owner may read."""

from __future__ import annotations

import stat
from pathlib import Path

_OTHERS = stat.S_IRGRP | stat.S_IROTH


def permission_warning(path: Path, what: str) -> str | None:
    """A remark; ``None`` where only the owner may read it, or where it is no file: a pipe, say."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode) or not found.st_mode & _OTHERS:
        return None
    who = "all users" if found.st_mode & stat.S_IROTH else "the group"
    return f"{path} contains {what} and is readable by {who}; run chmod 600 {path}"
