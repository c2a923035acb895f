"""Compile the patterns of users: globs, and regular expressions with RE2.

Python's own engine backtracks: a group name, which anyone who can create a group chooses, can keep a harmless pattern
busy practically forever. RE2 takes time linear in the name. It is imported only if a pattern is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from kgroups.errors import MissingPackage, UsageError

UNSUPPORTED = "look-ahead, look-behind, back-references, atomic groups, and possessive quantifiers are not supported"


class Pattern:
    """A compiled regular expression that matches whole names."""

    __slots__ = ("_match", "text")

    def __init__(self, text: str, match: Callable[[bytes], object]) -> None:
        self.text = text
        self._match = match

    def fullmatch(self, name: str, /) -> bool:
        """Return whether the whole name matches."""
        return self._match(name.encode("utf-8", "surrogatepass")) is not None


class Glob:
    """Matches the whole names of one or more globs, case-sensitive: ``*``, ``?``, ``[...]``, and ``[!...]``.

    :param literal: a glob also matches itself: it may be a name.
    """

    __slots__ = ("_match", "text")

    def __init__(self, *globs: str, literal: bool = False) -> None:
        self.text = " ".join(globs)
        # takes time linear in * and the name
        patterns = [*map(translate, globs), *(rf"{re.escape(glob)}\Z" for glob in globs if literal)]
        self._match: Callable[[str], object] = re.compile("|".join(patterns)).match

    def fullmatch(self, name: str, /) -> bool:
        """Return whether the whole name matches."""
        return self._match(name) is not None


def compile_pattern(text: str, flag: str) -> Pattern:
    """Compile a regular expression.

    :param flag: the option or argument that it comes from, for the error message.
    :raises UsageError: if RE2 cannot compile it.
    :raises MissingPackage: if google-re2 is not installed.
    """
    try:
        import re2
    except ImportError:
        raise MissingPackage(f"{flag} needs the package google-re2: pip install google-re2") from None
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(text.encode(), options)  # matching bytes takes a third of the time
    except re2.error as error:
        message = error.args[0] if error.args else ""
        reason = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
        raise UsageError(f"{flag}: {text!r} is not a valid RE2 regular expression: {reason}; {UNSUPPORTED}") from None
    except UnicodeEncodeError:
        raise UsageError(f"{flag}: {text!r} is not valid UTF-8") from None
    return Pattern(text, compiled.fullmatch)
