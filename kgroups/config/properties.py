"""The format of Java's properties files, as ``java.util.Properties`` reads it. What the keys mean is said elsewhere."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgroups.errors import ConfigError

from . import pipe

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

LARGEST = 10 << 20
"""Bytes of a file that somebody wrote by hand, and more; a device that never ends is refused."""


class Property(NamedTuple):
    """One setting, and the line of the file on which it begins."""

    key: str
    value: str
    line: int

    def __repr__(self) -> str:
        return f"Property(line {self.line})"  # many values are passwords


def read_properties(path: Path) -> Iterator[Property]:
    """The settings in the order of the file; where a key comes twice, Java goes by the last.

    :raises ConfigError: when there is no such file, or a ``\\u`` escape in it is none.
    """
    data = read_bounded(path)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ConfigError(f"{path} is UTF-16, as some Windows editors write; save it as UTF-8")
    data = data.removeprefix(codecs.BOM_UTF8)  # Java takes it for part of the first key, and goes on without this
    text = data.decode("latin-1")  # by the format's definition; others are escaped
    for number, line in _whole_lines(text):
        found = re.match(r"((?:\\.|[^\\=:\s])*)[ \t\f]*(?:[=:][ \t\f]*)?", line, re.DOTALL)
        assert found  # it matches anything
        key, value = found[1], line[found.end() :]
        try:
            yield Property(_unescaped(key), _unescaped(value), number)
        except ValueError:
            raise ConfigError(f"{path}, line {number}: a \\u must be followed by four hexadecimal digits") from None


def read_bounded(path: Path, what: str = "") -> bytes:
    """A file's bytes; a pipe such as a shell's ``<(...)`` may be one.

    :param what: asked for it, and stands before the reason: ``client.properties, line 3: ssl.key.location``.
    :raises ConfigError: when it cannot be read, or has no end.
    """
    before = f"{what}: " if what else ""
    try:
        data = pipe.read(path, LARGEST + 1) if path.is_fifo() else _head(path)
    except TimeoutError:
        raise ConfigError(f"{before}cannot read {path}: it is a pipe that no process writes to") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or "no file can have this name"
        raise ConfigError(f"{before}cannot read {path}: {reason}") from None
    if len(data) > LARGEST:
        raise ConfigError(f"{before}cannot read {path}: it is larger than {LARGEST >> 20} MiB")
    return data


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST + 1)


def _whole_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that continue them, which an odd number of backslashes at the end announces; no comments."""
    begun: tuple[int, list[str]] | None = None
    lines = re.split(r"\r\n|\r|\n", text)
    for number, raw in enumerate(lines, 1):
        line = raw.lstrip(" \t\f")
        if not (begun and any(begun[1])) and (not line or line[0] in "#!"):
            if line or number < len(lines):
                begun = None  # where an empty line was to be continued, too; but not by the file's end
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
    """:raises ValueError: for a ``\\u`` without its digits."""
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
    return _paired(text) if any("\ud800" <= char <= "\udfff" for char in text) else text


def _paired(text: str) -> str:
    """Two escapes may stand for one character, as UTF-16 has it: ``\\ud83d\\ude00``."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
