"""Untrusted text made visible: what a terminal would obey, or not show, is spelled out.

Two different texts stay different: a backslash that would read as the beginning of an escape is doubled, so that a name
with the four characters ``\\x1b`` is not taken for one with the control character. Python's ``unicode_escape`` codec
spells the characters, and reads them back.
"""

from __future__ import annotations

import re

MOST_MARKS = 8
"""Combining marks in a row that are shown: more of them paint over the lines above and below."""

_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U0001d159"
    "\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Points that Python counts as printable, and signs that are blank."""

_ESCAPING = "\\xuUntr "
"""What follows a backslash that is doubled: an escape, or a blank, which at the rim of a cell becomes one."""


def escape(text: str) -> str:
    """The text with every control, bidi, invisible or otherwise unprintable character as ``\\x1b``, ``\\u202e``, ...,
    and doubled each backslash that would read as the beginning of one."""
    if is_plain(text):
        return text
    shown = _spelled(text)
    for at, part in enumerate(shown):
        following = shown[at + 1] if at + 1 < len(shown) else ""
        if part == "\\" and (not following or following[0] in _ESCAPING):
            shown[at] = "\\\\"
    return "".join(shown)


def escape_message(text: str) -> str:
    """The same with backslashes as they are: for sentences of ours, which may quote with ``repr``."""
    return text if is_plain(text) else "".join(_spelled(text))


def one_line(text: str) -> str:
    """Return the words of somebody else on one line, so that none of them looks like a line of ours."""
    return text if text.isprintable() else " ".join(text.split())


def is_plain(text: str) -> bool:
    """Whether :func:`escape` leaves a text as it is, for all that can be told quickly."""
    return text.isascii() and text.isprintable() and "\\" not in text


def _spelled(text: str) -> list[str]:
    from unicodedata import category

    shown, marks = [], 0
    for char in text:
        marks = marks + 1 if not char.isascii() and category(char) in ("Mn", "Me") else 0
        hidden = not char.isprintable() or marks > MOST_MARKS or _BLANK.match(char)
        shown.append(char.encode("unicode_escape").decode("ascii") if hidden else char)
    return shown
