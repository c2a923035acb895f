"""Options of the data sources, as Spark passes them: case-insensitive, and together with entries of Spark's own.

Rule: an option is parsed or is an error, never ignored. Errors name the source, the option, its value, and the fix. The
value of an unknown option is not shown, because it may be a secret.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeVar

from kgroups.errors import UsageError

T = TypeVar("T")

_SWITCH = {"true": True, "false": False}

_OF_SPARK = frozenset({"path", "serialization.format"})
"""Entries that Spark adds."""
_OF_CATALOG = frozenset({"provider", "owner"})
"""Properties that Spark adds for ``CREATE TABLE``, next to the table's properties, and to each option twice."""
_OPTION = "option."
"""Prefix of the second copy of each option for ``CREATE TABLE``."""

_OTHER_NAMES = {
    "kafka.bootstrap.servers": "bootstrap.servers",
    "subscribe": "topic",
    "maxoffsetspertrigger": "maxRecordsPerTrigger",
    "minpartitions": "numPartitions",
    "startingoffsetsbytimestamp": "startingTimestamp",
    "endingoffsetsbytimestamp": "endingTimestamp",
}
"""Options of Spark's Kafka source -> the names here, if they are not similar."""
_SECURITY = ("sasl.", "ssl.", "security.", "kafka.sasl.", "kafka.ssl.", "kafka.security.")


class Options:
    """The options of one source; names are in the form of ``known``, whatever their case."""

    def __init__(self, source: str, given: Mapping[str, str], known: Iterable[str]) -> None:
        """Check the names.

        :raises UsageError: if an option is unknown.
        """
        self.source = source
        self._known = {name.lower(): name for name in known}
        folded = {key.lower(): value for key, value in given.items()}
        self.from_catalog = folded.keys() >= _OF_CATALOG
        if self.from_catalog:
            folded = {key: value for key, value in folded.items() if _OPTION + key in folded}
        self._given: dict[str, str] = {}
        for key, value in folded.items():
            if key in self._known:
                self._given[self._known[key]] = value
            elif key not in _OF_SPARK:
                raise UsageError(f"{source}: option {key} is unknown; {self._suggestion(key)}")

    def as_dict(self) -> dict[str, str]:
        """Return the options that are set."""
        return dict(self._given)

    def get(self, name: str) -> str | None:
        return self._given.get(name)

    def error(self, name: str, problem: str) -> UsageError:
        """Return the error of a value: ``problem`` is what is wrong with it, and the fix."""
        return UsageError(f"{self.source}: option {name}: {self._given.get(name)!r} {problem}")

    def one_of(self, name: str, choices: Mapping[str, T], default: str) -> T:
        text = self._given.get(name, default).lower()
        if text not in choices:
            raise self.error(name, f"must be one of {', '.join(choices)}")
        return choices[text]

    def switch(self, name: str, *, default: bool) -> bool:
        return self.one_of(name, _SWITCH, str(default))

    def number(self, name: str) -> int | None:
        text = self._given.get(name)
        if text is not None and not (text.isascii() and text.isdigit() and 0 < int(text[:20]) < 2**63):
            raise self.error(name, "is not a number above 0")
        return None if text is None else int(text)

    def seconds(self, name: str, default: float) -> float:
        try:
            seconds = float(self._given.get(name, default))
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0):
            raise self.error(name, "is not a number of seconds above 0")
        return seconds

    def names(self, name: str) -> tuple[str, ...] | None:
        """Return a list of names: comma-separated, or JSON for names with commas; ``None`` if the option is not set."""
        text = self._given.get(name)
        if text is None:
            return None
        try:
            found = json.loads(text) if text.lstrip().startswith("[") else [part.strip() for part in text.split(",")]
        except ValueError:
            found = []
        if not found or not all(isinstance(each, str) and each for each in found):
            raise self.error(name, 'must be NAME,NAME,… or, for names with commas, ["NAME", …]')
        return tuple(dict.fromkeys(found))

    def _suggestion(self, key: str) -> str:
        if key.startswith(_SECURITY):
            return "put it into a file and name the file in option command.config, or pass settings to register()"
        known = _OTHER_NAMES.get(key, "").lower()
        similar = [known] if known in self._known else get_close_matches(key, self._known, n=1)
        if similar:
            return f"use {self._known[similar[0]]}"
        return f"the options are {', '.join(self._known.values())}"
