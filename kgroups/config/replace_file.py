"""Replace a file that the user maintains: readers see the old contents or the new ones, never a part."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from kgroups.errors import ConfigError, UsageError

PRIVATE = 0o600


def replace_file(file: Path, text: str | bytes, *, private: bool = False) -> None:
    """Write the file atomically; its mode is preserved, and a symbolic link remains.

    :param private: whether only the owner may read the file from now on. A new file is always private.
    :raises ConfigError: if the file cannot be written.
    :raises UsageError: if the text cannot be written as UTF-8.
    """
    try:
        data = text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError:
        raise UsageError("a name or value is not valid UTF-8") from None
    try:
        _replace(file.resolve(), data, private=private)
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error.strerror}") from None


def _replace(file: Path, data: bytes, *, private: bool) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = PRIVATE if private or not file.exists() else stat.S_IMODE(file.stat().st_mode)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "wb") as out:  # noqa: PTH123
            os.fchmod(out.fileno(), mode)
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
