"""How one value looks as text. What comes from the cluster is untrusted: nothing unprintable leaves here.

JSON is the exact form. Text is for people, and no two names look the same in it: see :func:`escape`.
"""

from __future__ import annotations

from kgroups.model.cluster import Node
from kgroups.model.visible import escape

__all__ = ["ABSENT", "cell_text", "display_width", "escape", "is_cell_text", "pad", "value_text"]

ABSENT = "-"
_DASH = r"\x2d"
"""A name that would look as if there were none."""


def value_text(value: object) -> str:
    """A value in words, escaped; ``""`` where there is none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Node):
        return escape(f"{value.address} ({value.id})")
    return escape(str(value))


def cell_text(value: object) -> str:
    """A value in a table: never empty and never with a blank at its rim, so that columns can be told apart."""
    text = value_text(value)
    if not text:
        return ABSENT
    if text == ABSENT:
        return _DASH
    return text if text[0] != " " != text[-1] else _with_visible_rim(text)


def is_cell_text(text: str) -> bool:
    """Whether :func:`cell_text` would leave this string as it is."""
    return escape(text) == text and text not in ("", ABSENT) and text[0] != " " != text[-1]


def _with_visible_rim(text: str) -> str:
    core = text.strip(" ")
    if not core:
        return r"\x20" * len(text)
    before = len(text) - len(text.lstrip(" "))
    after = len(text) - len(text.rstrip(" "))
    return r"\x20" * before + core + r"\x20" * after


def display_width(text: str) -> int:
    """How many columns of a terminal the text takes: two for wide East Asian characters, none for combining marks."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(char) in ("Mn", "Me") else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def pad(text: str, width: int, right: bool = False) -> str:
    """The text filled with blanks to a width on the terminal; ``right`` puts the blanks before it."""
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks
