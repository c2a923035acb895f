"""The file from which a reset can be taken back: on the disk before the first change is sent."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path

import click

from kgroups.errors import UsageError

from .plan_source import LARGEST

_LONGEST = 60
"""Characters of a group's name in a file's."""


def undo_option(command: click.decorators.FC) -> click.decorators.FC:
    """Where to; the command gets ``undo_file``, for :func:`check_free` and :func:`write_undo`."""
    return click.option(
        "--undo-file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Where --execute keeps the old offsets; never overwritten. "
        "reset-offsets --from-file puts them back.  [default: kgroups-undo-GROUP-TIME.json here]",
    )(command)


def check_free(path: Path | None) -> None:
    """:raises UsageError: when there is a file already, or none can be; to be asked before the cluster is."""
    try:
        there = path is not None and path.exists()
    except OSError as error:  # a name that is too long; a folder that is not ours
        raise UsageError(f"--undo-file: cannot write {path}: {error.strerror}") from None
    if there:
        raise UsageError(f"--undo-file: {path} is there already, and is not overwritten")


def write_undo(path: Path | None, groups: Collection[str], lines: Iterable[str]) -> Path:
    """Writes the file, for its owner alone, and waits until it is on the disk.

    :param path: ``None``: a name of its own in this folder.
    :raises UsageError: when that cannot be; then nothing must be changed.
    """
    data = "".join(line + "\n" for line in lines).encode()
    if len(data) > LARGEST:
        raise UsageError(f"--undo-file: larger than {LARGEST // 1024**2:,} MiB; reset fewer groups at a time")
    try:
        made, handle = _create(path, groups)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(made.parent)
    except OSError as error:
        where = path or Path.cwd()
        raise UsageError(f"--undo-file: cannot write {where}: {error.strerror}; nothing is changed") from None
    click.echo(
        f"kgroups: note: the old offsets are in {made}; to put them back: "
        f"kgroups reset-offsets --from-file {shlex.quote(str(made))} --execute",
        err=True,
    )
    return made


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
