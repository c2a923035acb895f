"""Break text between words, so that it fits a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import TextIO

_DEFAULT_WIDTH = 80
_UNITS = re.compile(r"(?:(?<=: )|(?<=run ))(?:kgroups [a-z]|kafka-[a-z-]+\.sh --|chmod )[^;]*;?|(?<!\S)'[^']*'\S*|\S+")
"""What is never broken: a command, which is copied as a whole, a quoted name, and a word."""

_STYLES = re.compile(r"\x1b\[[0-9;]*m")


def terminal_width(stream: TextIO) -> int | None:
    """Return the number of columns of a terminal; ``None`` if the stream is not one."""
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    with suppress(OSError):
        return os.get_terminal_size(stream.fileno()).columns or _DEFAULT_WIDTH
    return _DEFAULT_WIDTH


def wrap(text: str, width: int | None, *, first: str = "", indent: int = 2) -> str:
    """Return the text with line breaks between words; as it is if the width is ``None``.

    :param first: what precedes the text on the first line; it may have styles.
    :param indent: number of blanks before the other lines.
    """
    if width is None:
        return first + text
    margin = " " * (len(text) - len(text.lstrip(" ")))
    return "\n".join(fill(_UNITS.findall(text), width, first=first + margin, indent=indent))


def write_wrapped(stream: TextIO, text: str, *, first: str = "", indent: int = 2) -> None:
    """Write a line of text; on a terminal, break it as :func:`wrap` does."""
    stream.write(wrap(text, terminal_width(stream), first=first, indent=indent) + "\n")


def fill(units: Iterable[str], width: int, *, first: str = "", indent: int = 2, gap: str = " ") -> list[str]:
    """Return lines of units, which are never broken: one that is wider than a line has a line of its own.

    Units and ``first`` may have styles.
    """
    lines, line = [], first
    used, between = _size(first), ""
    for unit in units:
        size = _size(unit)
        if used + len(between) + size > width:
            if line.strip():
                lines.append(line.rstrip())
                used = indent
            used = min(used, max(0, width - size))
            line, between = " " * used, ""
        line += between + unit
        used += len(between) + size
        between = gap
    return [*lines, line]


def _size(text: str) -> int:
    from rich.cells import cell_len  # what is not on a terminal does not need it

    return cell_len(_STYLES.sub("", text) if "\x1b" in text else text)
