"""Validate a regular expression for RE2, which brokers match subscriptions with (KIP-848).

RE2 decides whether it is valid. The messages come from RE2/J, which the Java tool uses; for an expression with
several errors, RE2/J may report another one.
"""

from __future__ import annotations

import re
from collections import Counter

from kgroups.errors import EXIT_OK, MissingPackage

from .joptsimple import ParsedOptions

_MESSAGES = (
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
"""Prefix of RE2's message, and RE2/J's message."""

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
"""Syntax of RE2 only, not RE2/J: ``\\C``, a duplicate group name, a repeated ``{`` that is not a repetition."""


def validate(parsed: ParsedOptions) -> int:
    """Run ``--validate-regex``."""
    print(verdict(parsed.one("validate-regex") or ""))
    return EXIT_OK


def verdict(pattern: str) -> str:
    """Return the line that the Java tool prints."""
    reason = find_error(pattern)
    if reason is None:
        return f"The regular expression `{pattern}` is valid."
    return f"The regular expression `{pattern}` is invalid: {reason}."


def find_error(pattern: str) -> str | None:
    """Return the error of an expression; ``None`` if it is valid.

    :raises MissingPackage: if google-re2 is not installed.
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
        message = error.args[0]
        text = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
        return next((message for prefix, message in _MESSAGES if text.startswith(prefix)), text)
    except UnicodeEncodeError:
        return "invalid UTF-8"
    if any(found["brace"] for found in quirks):
        return "invalid nested repetition operator"
    names = Counter(found["name"] for found in quirks if found["name"])
    return "duplicate capture group name" if names and max(names.values()) > 1 else None
