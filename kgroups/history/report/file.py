"""Write a report; never replace a file that is not a report."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from kgroups.errors import UsageError

MARK = "<!-- kgroups history report -->"
"""Second line of every report, which identifies it."""

_FIRST_LINES = 200


def check_target(path: Path, force: bool) -> None:
    """Check that a report can be written to this path.

    :raises UsageError: if the directory does not exist, or, without ``force``, the file is not a report.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; give a file")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is not a directory; create it first")
    if path.exists() and not force and not _is_report(path):
        raise UsageError(f"{path} already exists and is not a kgroups report; choose another file, or use --force")


def write(path: Path, page: str, force: bool = False) -> None:
    """Write the report atomically.

    :raises UsageError: if the path is not allowed, see :func:`check_target`, or the file cannot be written.
    """
    check_target(path, force)
    try:
        _replace(path, page)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.read(_FIRST_LINES)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def _replace(path: Path, page: str) -> None:
    """Replace the file, and keep its permissions.

    A new report is readable by its owner only, because it contains names of groups, clients, and hosts.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as out:  # noqa: PTH123
            out.write(page)
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(out.fileno(), stat.S_IMODE(path.stat().st_mode))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
