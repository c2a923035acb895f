"""Decide which words of a settings file may appear in a message.

A word in the place of a key, a mechanism or a file type may be part of a password: the rest of a value that continues
on the next line, a key file passed as a properties file, two swapped values. Messages show only words that are known,
or similar to a known one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_DOTTED = re.compile(r"[a-z][a-z0-9]*(?:\.[a-z0-9]+)+")
_MOST_ADDED = 4
_LONGEST = 60

HIDDEN_KEY = "a key"
"""Replaces a key that must not be shown; messages add file and line."""


@cache
def known_unused_keys() -> frozenset[str]:
    """Return the keys of Java's clients and librdkafka that have no effect in kgroups."""
    lines = Path(__file__).with_name("known_keys.txt").read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def shown_key(key: str, known: Iterable[str] = ()) -> str:
    """Return the key if it has the form of Kafka's keys or is similar to a known one, else :data:`HIDDEN_KEY`."""
    if len(key) < _LONGEST and (_DOTTED.fullmatch(key) or is_similar(key, {*known_unused_keys(), *known})):
        return key
    return HIDDEN_KEY


def describe_value(value: str, known: Iterable[str]) -> str:
    """Return ``is 'SASL'`` if the value is similar to a known one, else a text without the value."""
    word = value.strip()
    return f"is {word!r}" if is_similar(word, known) else "is not a known value"


def is_similar(word: str, known: Iterable[str]) -> bool:
    """Return whether a word equals a known one, or is probably a misspelling of it."""
    from difflib import get_close_matches

    # A misspelling adds few characters; a word with a secret in front of it adds many.
    folded = [each.casefold() for each in known if len(word) - len(each) <= _MOST_ADDED]
    return len(word) < _LONGEST and bool(get_close_matches(word.casefold(), folded, n=1, cutoff=0.65))
