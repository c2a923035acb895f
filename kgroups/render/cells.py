"""How one value looks as text. What comes from the cluster is untrusted: nothing unprintable leaves here.

JSON is the exact form; text is for people: it does not tell an escaped character from a backslash typed by a client.
"""

from __future__ import annotations

from kgroups.model.cluster import Node

ABSENT = "-"


def escape(text: str) -> str:
    """The text with every control, bidi, zero-width or otherwise unprintable character as ``\\x1b``, ``\\u202e``, …"""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


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
    return text if text[0] != " " != text[-1] else _with_visible_rim(text)


def is_cell_text(text: str) -> bool:
    """Whether :func:`cell_text` would leave this string as it is."""
    return text.isprintable() and text != "" and text[0] != " " != text[-1]


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
