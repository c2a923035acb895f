"""Names in the commands that kgroups suggests, as text that can be pasted into a shell."""

from __future__ import annotations

import re
import shlex

from .visible import escape

_HIDDEN = re.compile(rb"[^ -~]|['\\]")
_PLAIN = re.compile(r"[\w.][\w.-]*", re.ASCII)


def shell(text: str) -> str:
    """Quote text for a shell; if a character is invisible, as in ``$'\\x1b'``, which Bash and Zsh understand."""
    if escape(text) == text:
        return shlex.quote(text)
    quoted = _HIDDEN.sub(lambda found: rb"\x%02x" % found[0][0], text.encode("utf-8", "surrogatepass"))
    return f"$'{quoted.decode()}'"


def group_words(group: str) -> str:
    """Return the words that select exactly this group, even if its name looks like an option or a glob."""
    return group if _PLAIN.fullmatch(group) else f"--group {shell(group)}"


def group_words_in_text(group: str) -> str:
    """Return the same for text in which backslashes are escaped: a name that needs them is not repeated there."""
    words = group_words(group)
    return "GROUP" if "\\" in words else words
