"""Compile regular expressions from users with RE2.

Python's own engine backtracks: one group name, chosen by anyone who can create a group, can keep an innocent pattern
busy permanently. RE2 takes time linear in the name. It is imported only when a pattern is given.
"""

from __future__ import annotations

from collections.abc import Callable

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
        compiled = re2.compile(text.encode(), options)  # bytes: a third of what matching text costs
    except re2.error as error:
        said = error.args[0] if error.args else ""
        reason = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise UsageError(f"{flag}: {text!r} is not a valid RE2 regular expression: {reason}; {UNSUPPORTED}") from None
    except UnicodeEncodeError:
        raise UsageError(f"{flag}: {text!r} is not valid UTF-8") from None
    return Pattern(text, compiled.fullmatch)
