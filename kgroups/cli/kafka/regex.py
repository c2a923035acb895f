"""Whether a regular expression is one for RE2, which brokers match subscriptions by (KIP-848).

RE2 itself decides. Why not, is said in the words of RE2/J, which the Java tool asks; where several things are wrong it
may name another one.
"""

from __future__ import annotations

import re
from collections import Counter

from kgroups.errors import MissingPackage

_WORDS = (
    ("invalid escape sequence", "invalid escape sequence"),
    ("invalid character class", "invalid character class range"),
    ("missing ]", "missing closing ]"),
    ("missing )", "missing closing )"),
    ("unexpected )", "regexp/syntax: internal error"),
    ("trailing \\", "trailing backslash at end of expression"),
    ("no argument for repetition operator", "missing argument to repetition operator"),
    ("invalid repetition size", "invalid repeat count"),
    ("bad repetition operator", "invalid nested repetition operator"),
    ("invalid perl operator", "invalid or unsupported Perl syntax"),
    ("invalid named capture group", "invalid named capture"),
    ("invalid UTF-8", "invalid escape sequence"),
)
"""How RE2's reasons begin, and RE2/J's words for each."""

_QUIRKS = re.compile(
    r"""\\Q.*?(?:\\E|\Z)                                      # a quote
      | (?P<any_byte>\\C)
      | \\.
      | \[\^?\]?(?:\\.|\[:|[^]])*+(?:\]|\Z)                   # a class, without backtracking
      | \(\?P?<(?P<name>\w+)>
      | (?P<brace>\{(?!\d+(?:,\d*)?\})(?=[*+?]|\{\d+(?:,\d*)?\}))
    """,
    re.DOTALL | re.VERBOSE,
)
"""What RE2 takes and RE2/J does not: ``\\C``, a name given twice, a repeated ``{`` that begins no repetition itself."""


def verdict(pattern: str) -> str:
    """The Java tool's sentence."""
    reason = why_not(pattern)
    if reason is None:
        return f"The regular expression `{pattern}` is valid."
    return f"The regular expression `{pattern}` is invalid: {reason}."


def why_not(pattern: str) -> str | None:
    """What is wrong with the expression; ``None`` when nothing is.

    :raises MissingPackage: when google-re2 is not installed.
    """
    try:
        import re2
    except ImportError:
        raise MissingPackage("--validate-regex needs the package google-re2: pip install google-re2") from None
    quirks = list(_QUIRKS.finditer(pattern))
    if any(found["any_byte"] for found in quirks):
        return "invalid escape sequence"
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return next((words for beginning, words in _WORDS if text.startswith(beginning)), text)
    except UnicodeEncodeError:
        return "invalid UTF-8"
    if any(found["brace"] for found in quirks):
        return "invalid nested repetition operator"
    names = Counter(found["name"] for found in quirks if found["name"])
    return "duplicate capture group name" if names and max(names.values()) > 1 else None
