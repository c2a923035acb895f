"""Command lines read as the Java tools read theirs, by joptsimple 5.0 with abbreviations off.

``--name value``, ``--name=value``, and the same with one dash. An empty ``--name=`` takes the next word. A value that
must be there may begin with a dash; one that may be left out may not. A value for a flag that takes none is ignored,
and so is every word that is no option and no value. ``--`` ends the options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

LONG = 2**63
"""Java's longs are below it, and not below its negative."""


class OptionError(Exception):
    """A command line that cannot be; the text is Java's. It is shown with the usage, and the exit code is 1."""


class Takes(Enum):
    """What an option has for a value."""

    NOTHING = "nothing"
    MAYBE = "maybe a value"
    VALUE = "a value"


class Option(NamedTuple):
    """One option. ``only_with`` names those of which one must be there as well."""

    name: str
    takes: Takes = Takes.NOTHING
    only_with: tuple[str, ...] = ()
    required: bool = False
    is_help: bool = False
    """Where it is given, neither ``required`` nor ``only_with`` of any option is looked at."""


class ParsedOptions:
    """What a command line says: option -> its values, in their order; one without a value is there with none."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = values

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def any_of(self, *names: str) -> bool:
        return any(name in self._values for name in names)

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(self._values.get(name, ()))

    def one(self, name: str) -> str | None:
        """:raises OptionError: when there are several values."""
        values = self.all(name)
        if len(values) > 1:
            raise OptionError(f"Found multiple arguments for option {name}, but you asked for only one")
        return values[0] if values else None

    def number(self, name: str) -> int | None:
        """The value as a Java long.

        :raises OptionError: when it is none, or there are several.
        """
        value = self.one(name)
        return None if value is None else _long(name, value)

    def first_number(self, name: str) -> int | None:
        """The first of its values, as a Java long.

        :raises OptionError: when it is none.
        """
        values = self.all(name)
        return _long(name, values[0]) if values else None


def _long(name: str, value: str) -> int:
    if not re.fullmatch(r"[+-]?0{0,99}[0-9]{1,19}", value) or not -LONG <= int(value) < LONG:
        raise OptionError(f"Cannot parse argument '{value}' of option {name}")
    return int(value)


def parse(options: Iterable[Option], words: Sequence[str]) -> ParsedOptions:
    """:raises OptionError: for an option that is not there, one without its value, or one in wrong company."""
    known = {option.name: option for option in options}
    found: dict[str, list[str]] = {}
    pending = list(reversed(words))
    while pending:
        word = pending.pop()
        if word == "--":
            break
        if _looks_like_option(word):
            name, _, value = word.removeprefix("--" if word.startswith("--") else "-").partition("=")
            _take(_known(known, name, word), value, pending, found)
    _check_company(known, found)
    return ParsedOptions(found)


def _looks_like_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _known(known: Mapping[str, Option], name: str, word: str) -> Option:
    if name not in known:
        # After one dash, joptsimple tries the letters as options of one letter each, and there are none.
        raise OptionError(f"{name if word.startswith('--') else word[1]} is not a recognized option")
    return known[name]


def _take(option: Option, value: str, pending: list[str], found: dict[str, list[str]]) -> None:
    values = found.setdefault(option.name, [])
    if option.takes is Takes.NOTHING:
        return
    if value:
        values.append(value)
    elif option.takes is Takes.MAYBE:
        if pending and not _looks_like_option(pending[-1]):
            values.append(pending.pop())
    elif pending:
        values.append(pending.pop())
    else:
        raise OptionError(f"Option {option.name} requires an argument")


def _check_company(known: Mapping[str, Option], found: Mapping[str, object]) -> None:
    if any(known[name].is_help for name in found):
        return
    missing = [option.name for option in known.values() if option.required and option.name not in found]
    if missing:
        raise OptionError(f"Missing required option(s) [{', '.join(missing)}]")
    alone = [name for name in found if known[name].only_with and not found.keys() & set(known[name].only_with)]
    if alone:
        raise OptionError(f"Option(s) [{', '.join(alone)}] are unavailable given other options on the command line")
