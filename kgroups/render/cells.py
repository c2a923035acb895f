"""Convert single values to text. Text from the cluster is untrusted: unprintable characters are escaped.

JSON contains the exact values. In text, different names look different: see :func:`escape`.
"""

from __future__ import annotations

from kgroups.model.cluster import Node
from kgroups.model.visible import escape

__all__ = ["ABSENT", "cell_text", "display_width", "escape", "is_cell_text", "pad", "value_text"]

ABSENT = "-"
_DASH = r"\x2d"
"""Text for the name ``-``, which would look like a missing value."""


def value_text(value: object) -> str:
    """Return a value as escaped text; ``""`` for a missing value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Node):
        return escape(f"{value.address} ({value.id})") if value.id >= 0 else ""
    return escape(str(value))


def cell_text(value: object) -> str:
    """Return the text of a value in a table: never empty, and without leading or trailing blanks."""
    text = value_text(value)
    if not text:
        return ABSENT
    if text == ABSENT:
        return _DASH
    return text if text[0] != " " != text[-1] else _with_visible_blanks(text)


def is_cell_text(text: str) -> bool:
    """Return whether :func:`cell_text` returns this string unchanged."""
    return escape(text) == text and text not in ("", ABSENT) and text[0] != " " != text[-1]


def _with_visible_blanks(text: str) -> str:
    core = text.strip(" ")
    if not core:
        return r"\x20" * len(text)
    before = len(text) - len(text.lstrip(" "))
    after = len(text) - len(text.rstrip(" "))
    return r"\x20" * before + core + r"\x20" * after


def display_width(text: str) -> int:
    """Return the width on a terminal: two columns for wide East Asian characters, none for combining marks."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(char) in ("Mn", "Me") else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def pad(text: str, width: int, right: bool = False) -> str:
    """Pad the text with blanks to a width on the terminal; ``right`` aligns it to the right."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks
