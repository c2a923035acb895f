"""Read files in the format of ``java.util.Properties``. The keys are interpreted elsewhere."""

from __future__ import annotations

import codecs
import os
import re
import select
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import ConfigError

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

MAX_SIZE = 10 << 20
"""Maximum size of a file in bytes, more than a configuration needs; it rejects devices that never end."""


class Property(NamedTuple):
    """One setting, and the number of its first line."""

    key: str
    value: str
    line: int

    def __repr__(self) -> str:
        return f"Property(line {self.line})"  # many values are passwords


def read_properties(path: Path) -> Iterator[Property]:
    """Yield the settings in the order of the file; for a repeated key, Java uses the last value.

    :raises ConfigError: if the file cannot be read, or contains an invalid ``\\u`` escape.
    """
    data = read_bounded(path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ConfigError(f"{path} is UTF-16, as some Windows editors write; save it as UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)  # Java makes it part of the first key, and ignores that setting
    text = data.decode("latin-1")  # by definition of the format; other characters are escaped
    for number, line in _logical_lines(text):
        found = re.match(r"((?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?", line, re.DOTALL)
        assert found  # the pattern matches any text
        key, value = found[1], line[found.end() :]
        try:
            yield Property(_unescaped(key), _unescaped(value), number)
        except ValueError:
            raise ConfigError(f"{path}, line {number}: a \\u must be followed by four hexadecimal digits") from None


def read_bounded(path: Path, what: str = "") -> bytes:
    """Return the bytes of a file, which may be a pipe such as a shell's ``<(...)``.

    :param what: the setting that names the file, for errors: ``client.properties, line 3: ssl.key.location``.
    :raises ConfigError: if it cannot be read, or is too large.
    """
    prefix = f"{what}: " if what else ""
    try:
        data = _read_pipe(path, MAX_SIZE + 1) if path.is_fifo() else _head(path)
    except TimeoutError:
        raise ConfigError(f"{prefix}cannot read {path}: it is a pipe that no process writes to") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or "no file can have this name"
        raise ConfigError(f"{prefix}cannot read {path}: {reason}") from None
    if len(data) > MAX_SIZE:
        raise ConfigError(f"{prefix}cannot read {path}: it is larger than {MAX_SIZE >> 20} MiB")
    return data


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_SIZE + 1)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines and the numbers of their first lines, without comments.

    An odd number of backslashes at the end of a line continues it.
    """
    begun: tuple[int, list[str]] | None = None
    lines = re.split(r"\r\n|\r|\n", text)
    for number, raw in enumerate(lines, 1):
        line = raw.lstrip(" \t\f")
        if not (begun and any(begun[1])) and (not line or line[0] in "#!"):
            if line or number < len(lines):
                begun = None  # also ends a continued line that is empty, but not at the end of the file
            continue
        first, so_far = begun or (number, [])
        if (len(line) - len(line.rstrip("\\"))) % 2:
            so_far.append(line[:-1])
            begun = first, so_far
        else:
            begun = None
            yield first, "".join((*so_far, line))
    if begun:
        yield begun[0], "".join(begun[1])


def _unescaped(text: str) -> str:
    """Resolve the escapes.

    :raises ValueError: for a ``\\u`` without four hexadecimal digits.
    """
    parts = re.split(r"\\(u.{0,4}|.)", text, flags=re.DOTALL)
    for at in range(1, len(parts), 2):
        escape = parts[at]
        if escape[0] != "u":
            parts[at] = _ESCAPES.get(escape, escape)
        elif re.fullmatch("u[0-9a-fA-F]{4}", escape):
            parts[at] = chr(int(escape[1:], 16))
        else:
            raise ValueError
    text = "".join(parts)
    return _join_surrogates(text) if any("\ud800" <= char <= "\udfff" for char in text) else text


def _join_surrogates(text: str) -> str:
    """Replace UTF-16 surrogate pairs such as ``\\ud83d\\ude00`` with the characters that they encode."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


PIPE_TIMEOUT = 30.0
"""Seconds to wait for the writer, which may have to query a secret store."""


def _read_pipe(path: Path, limit: int) -> bytes:
    """Return the contents of a pipe, at most ``limit`` bytes.

    :raises TimeoutError: if no process writes to the pipe, or the writer does not close it.
    :raises OSError: if it cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a blocking open would wait for a writer
    try:
        return _read_all(handle, limit, time.monotonic() + PIPE_TIMEOUT)
    finally:
        os.close(handle)


def _read_all(handle: int, limit: int, end: float) -> bytes:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    data, connected = b"", False
    while len(data) < limit:
        try:
            part = os.read(handle, limit - len(data))
        except BlockingIOError:  # a writer has the pipe open, but has written nothing
            part, connected = None, True
        if part:
            data += part
            continue
        if part == b"" and (data or connected):
            return data
        if time.monotonic() > end:
            raise TimeoutError
        poll.poll(50)
    return data
