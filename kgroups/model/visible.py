"""Escape untrusted text, so that no character controls the terminal or is invisible.

Different texts stay different: a backslash that would look like the start of an escape is doubled, so that a name with
the four characters ``\\x1b`` differs from one with the control character. Escapes are those of Python's
``unicode_escape`` codec, which decodes them.
"""

from __future__ import annotations

import re

MOST_MARKS = 8
"""The number of combining marks in a row that are shown; more would paint over the lines above and below."""

_BLANK = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U0001d159"
    "\U000e0000-\U000e0fff]"
)
"""A pattern: Default_Ignorable_Code_Points that Python considers printable, and blank characters."""

_ESCAPING = "\\xuUntr "
"""A backslash before one of these is doubled: an escape, or a blank, which at the edge of a cell is escaped."""


def escape(text: str) -> str:
    """Escape every control, bidi, invisible, or otherwise unprintable character, as in ``\\x1b`` or ``\\u202e``.

    Also double each backslash that would look like the start of an escape.
    """
    if is_plain(text):
        return text
    shown = _escaped_characters(text)
    for at, part in enumerate(shown):
        following = shown[at + 1] if at + 1 < len(shown) else ""
        if part == "\\" and (not following or following[0] in _ESCAPING):
            shown[at] = "\\\\"
    return "".join(shown)


def escape_message(text: str) -> str:
    """Escape unprintable characters, but keep backslashes: for messages of kgroups, which may quote with ``repr``."""
    return text if is_plain(text) else "".join(_escaped_characters(text))


def one_line(text: str) -> str:
    """Return untrusted text on one line, so that no part of it looks like a line of kgroups' output."""
    return text if text.isprintable() else " ".join(text.split())


def is_plain(text: str) -> bool:
    """Return whether a quick test shows that :func:`escape` leaves the text as it is."""
    return text.isascii() and text.isprintable() and "\\" not in text


def _escaped_characters(text: str) -> list[str]:
    from unicodedata import category

    shown, marks = [], 0
    for char in text:
        marks = marks + 1 if not char.isascii() and category(char) in ("Mn", "Me") else 0
        hidden = not char.isprintable() or marks > MOST_MARKS or re.match(_BLANK, char)
        shown.append(char.encode("unicode_escape").decode("ascii") if hidden else char)
    return shown
