"""The file from which a reset can be taken back: on the disk before the first change is sent."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from kgroups.errors import UsageError

from .plan_source import LARGEST

_LONGEST = 60
"""Characters of a group's name in a file's."""


def undo_option(command: click.decorators.FC) -> click.decorators.FC:
    """Where to; the command gets ``undo_file``, for :class:`UndoFile`."""
    return click.option(
        "--undo-file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Where --execute keeps the old offsets; never overwritten. "
        "reset-offsets --from-file puts them back.  [default: kgroups-undo-GROUP-TIME.json here]",
    )(command)


class UndoFile:
    """The undo file of one run: where it is written, and the command that restores from it."""

    def __init__(self, path: Path | None, given: Sequence[str] = ()) -> None:
        """Check the path before the cluster is contacted.

        :param path: ``None``: a new name in the current directory.
        :param given: connection options for the suggested command.
        :raises UsageError: if the file already exists or cannot be created.
        """
        self.path = path
        self.written: Path | None = None
        self._given = tuple(given)
        if path is not None:
            _check_free(path)

    @property
    def suggestion(self) -> str:
        """The command that restores the old offsets, quoted for a shell. Contains no secrets."""
        from .repeat_options import command_line

        words = ("--from-file", str(self.written), "--execute", *self._given)
        return command_line(("kgroups", "reset-offsets", *words))

    def write(self, groups: Collection[str], lines: Iterable[str]) -> None:
        """Write the file, readable for its owner only, and wait until it is on the disk.

        :raises UsageError: if that fails. Then nothing must be changed, and no file is left behind.
        """
        from kgroups.render.cells import escape

        from .progress import wipe

        data = "".join(line + "\n" for line in lines).encode()
        if len(data) > LARGEST:
            raise UsageError(f"--undo-file: larger than {LARGEST // 1024**2:,} MiB; reset fewer groups at a time")
        made: Path | None = None
        try:
            made, handle = _create(self.path, groups)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            _sync_folder(made.parent)
        except OSError as error:
            if made is not None:
                made.unlink(missing_ok=True)
            where = self.path or Path.cwd()
            raise UsageError(f"--undo-file: cannot write {where}: {error.strerror}; nothing was changed") from None
        except BaseException:  # interrupted: nothing has been sent
            if made is not None:
                made.unlink(missing_ok=True)
            raise
        self.written = made
        wipe()
        text = f"the old offsets are in {made}; to restore them: {self.suggestion}"
        click.echo(f"kgroups: note: {escape(text)}", err=True)


def _check_free(path: Path) -> None:
    if not path.name:
        raise UsageError("--undo-file: the name of a file is required")
    try:
        there = path.exists()
    except OSError as error:  # the name is too long, or the directory cannot be searched
        raise UsageError(f"--undo-file: cannot write {path}: {error.strerror}") from None
    if there:
        raise UsageError(f"--undo-file: {path} already exists and is never overwritten; choose another name")


def _create(path: Path | None, groups: Collection[str]) -> tuple[Path, int]:
    if path is not None:
        return path, _open(path)
    one = re.sub(r"[^A-Za-z0-9._-]", "_", next(iter(groups)))[:_LONGEST]
    who = one if len(groups) == 1 else f"{len(groups)}-groups"
    stem = f"kgroups-undo-{who}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    number = 1
    while True:
        made = Path(f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
        try:
            return made, _open(made)
        except FileExistsError:
            number += 1


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _sync_folder(folder: Path) -> None:
    """So that the file's name is on the disk, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
