"""Which words of a settings file may stand in a message.

What stands where a key, a mechanism or a file's type belongs may be half of somebody's password: a value that goes on
in the next line, a key file given for a properties file, two values exchanged. Shown is only what is known, or nearly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_DOTTED = re.compile(r"[a-z][a-z0-9]*(?:\.[a-z0-9]+)+")
_LONGEST = 60

HIDDEN_KEY = "a key"
"""Stands for one that is not shown; file and line are told beside it."""


@cache
def harmless() -> frozenset[str]:
    """Keys of Java's clients and librdkafka that make no difference here."""
    lines = Path(__file__).with_name("known_keys.txt").read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def shown_key(key: str, known: Iterable[str] = ()) -> str:
    """A key that has the form of Kafka's, or is nearly one that there is; else :data:`HIDDEN_KEY`."""
    if len(key) < _LONGEST and (_DOTTED.fullmatch(key) or nearly(key, {*harmless(), *known})):
        return key
    return HIDDEN_KEY


def told(value: str, known: Iterable[str]) -> str:
    """``is 'SASL'``, where a word is nearly one of those that are known; else that it is none of them."""
    word = value.strip()
    return f"is {word!r}" if nearly(word, known) else "is not a known value"


def nearly(word: str, known: Iterable[str]) -> bool:
    """Whether a word is one of these, or was meant to be."""
    from difflib import get_close_matches

    folded = [each.casefold() for each in known]
    return len(word) < _LONGEST and bool(get_close_matches(word.casefold(), folded, n=1, cutoff=0.65))
