"""Set the default profile: edit one line of a file that the user maintains."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tempfile
import tomllib
from pathlib import Path

from kgroups.errors import ConfigError

from .profiles import Profiles

_DEFAULT = re.compile(
    r"""^([ \t]*(?:default|"default"|'default')[ \t]*=[ \t]*)("(?:\\.|[^"\\\r\n])*"|'[^'\r\n]*')""", re.MULTILINE
)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def set_default(profiles: Profiles, name: str) -> None:
    """Set the default profile in the file, atomically; comments, order and the file mode are preserved.

    :raises ConfigError: if the file cannot be written, or cannot be edited safely.
    """
    text = with_default(profiles.text, name)
    if text is None:
        raise ConfigError(f'{profiles.file}: cannot edit this file safely; add default = "{name}" yourself')
    try:
        _replace(profiles.file, text)
    except OSError as error:
        raise ConfigError(f"cannot write {profiles.file}: {error.strerror}") from None


def with_default(text: str, name: str) -> str | None:
    """Return the same TOML with this default; ``None`` if the edit would change anything else."""
    before = tomllib.loads(text)
    value = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
    first = _TABLE.search(text)
    head = first.start() if first else len(text)
    found = _DEFAULT.search(text, 0, head)
    if found:
        edited = f"{text[: found.start(2)]}{value}{text[found.end(2) :]}"
    else:
        end = "\r\n" if "\r\n" in text else "\n"
        edited = f"default = {value}{end}{text}"
    try:
        after = tomllib.loads(edited)
    except tomllib.TOMLDecodeError:
        return None
    return edited if after == {**before, "default": name} else None


def _replace(file: Path, text: str) -> None:
    file = file.resolve()  # replace the target of a symbolic link, not the link
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "wb") as out:  # noqa: PTH123
            out.write(text.encode())
            out.flush()
            os.fchmod(out.fileno(), stat.S_IMODE(file.stat().st_mode))
            os.fsync(out.fileno())
        Path(temporary).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
