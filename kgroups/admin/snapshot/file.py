"""Write and read files of snapshots."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from kgroups.config.replace_file import replace_file
from kgroups.errors import UsageError
from kgroups.model.snapshot.file_format import parse_snapshot, snapshot_bytes
from kgroups.model.snapshot.snapshot import Snapshot

LARGEST = 1024**3
"""Bytes of a snapshot that is not compressed: more than ten million offsets."""

_PORTION = 1024**2
"""Bytes that are decompressed at a time."""

_MAGIC = b"\x1f\x8b"
"""The first bytes of each gzip file."""


def check_writable(path: Path, *, overwrite: bool = False) -> None:
    """Check the path of a new snapshot before the cluster is contacted.

    :raises UsageError: if the file exists and must not be overwritten, or its folder does not exist.
    """
    try:
        if path.is_dir():
            raise UsageError(f"{path}: is a directory; add the name of a file")
        if path.exists() and not overwrite:
            raise UsageError(f"{path}: already exists; choose another name, or add --overwrite")
        if not path.parent.is_dir():
            raise UsageError(f"{path}: the directory {path.parent} does not exist")
    except OSError as error:  # the name is too long, or the directory cannot be searched
        raise UsageError(f"{path}: {error.strerror}") from None


def write_snapshot(path: Path, snapshot: Snapshot) -> int:
    """Write a snapshot, readable for its owner only; return the size of the file in bytes.

    Readers see the old file or the complete new one.

    :raises ConfigError: if the file cannot be written.
    :raises UsageError: if the snapshot is too large.
    """
    data = snapshot_bytes(snapshot)
    if len(data) > LARGEST:
        raise UsageError(f"{path}: larger than {LARGEST // 1024**2:,} MiB; save fewer groups at a time")
    packed = gzip.compress(data, compresslevel=6)
    replace_file(path, packed, private=True)
    return len(packed)


def read_snapshot(path: Path) -> Snapshot:
    """Read a snapshot.

    :raises UsageError: if it cannot be read, or is not a complete and unchanged snapshot; one line.
    """
    try:
        with path.open("rb") as file:
            if not (head := file.peek(2)[:2]):
                raise UsageError(f"{path}: the file is empty")
            if head != _MAGIC:
                raise UsageError(f"{path}: not a snapshot of kgroups")
            with gzip.GzipFile(fileobj=file) as unpacked:
                _check_content(path, unpacked)
            file.seek(0)
            with gzip.GzipFile(fileobj=file) as unpacked:
                data = unpacked.read(LARGEST + 1)
    except EOFError:
        raise UsageError(f"{path}: truncated: the file ends before its last line") from None
    except gzip.BadGzipFile:
        raise UsageError(f"{path}: damaged: its checksum differs") from None
    except zlib.error:
        raise UsageError(f"{path}: damaged: its contents cannot be decompressed") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    return parse_snapshot(data, str(path))


def _check_content(path: Path, unpacked: gzip.GzipFile) -> None:
    """Check the beginning and the size of a file before it is in memory: a few kilobytes can decompress to gigabytes.

    :raises UsageError: if it does not begin as a snapshot, or is too large.
    """
    size = 0
    while chunk := unpacked.read(_PORTION):
        if not size and not chunk.startswith(b"{"):
            raise UsageError(f"{path}: not a snapshot of kgroups")
        size += len(chunk)
        if size > LARGEST:
            raise UsageError(f"{path}: larger than {LARGEST // 1024**2:,} MiB when decompressed")
