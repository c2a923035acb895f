"""Parse command lines as the Java tools do, with joptsimple 5.0 and abbreviations disabled.

Options are ``--name value`` and ``--name=value``, also with one dash; the value of ``--name=`` is empty. A required
value may begin with a dash, an optional value may not. The value of a flag that takes none is ignored, and so is every
other argument. ``--`` ends the options.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

LONG = 2**63
"""The exclusive upper bound of Java's long; the lower bound is its negative."""


class OptionError(Exception):
    """An invalid command line; the text is Java's. The exit code is 1."""

    with_usage = True
    """Whether the usage text follows."""


class ArgumentError(OptionError):
    """An argument that joptsimple rejects when the value is used, after the rules are checked."""

    def __init__(self, text: str, exception: str) -> None:
        """:param exception: the name of Java's class."""
        super().__init__(text)
        self.exception = exception


class ExceptionText(OptionError):
    """An exception that the Java tool does not catch."""

    with_usage = False


class Takes(Enum):
    """Whether an option takes a value."""

    NOTHING = "nothing"
    MAYBE = "maybe a value"
    VALUE = "a value"


class Option(NamedTuple):
    """One option; at least one of the options in ``only_with`` must be given with it."""

    name: str
    takes: Takes = Takes.NOTHING
    only_with: tuple[str, ...] = ()
    required: bool = False
    is_help: bool = False
    """If it is given, ``required`` and ``only_with`` of all options are not checked."""


class ParsedOptions:
    """The options of a command line: option -> values in their order, empty for an option without a value."""

    def __init__(self, values: Mapping[str, Sequence[str]], kind: str = "") -> None:
        """:param kind: of the tool's groups, for messages; empty for all."""
        self._values = values
        self.kind = kind

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def completed(self, values: Mapping[str, str]) -> ParsedOptions:
        """Return the options with other values of some."""
        return ParsedOptions({**self._values, **{name: (value,) for name, value in values.items()}}, self.kind)

    def any_of(self, *names: str) -> bool:
        return any(name in self._values for name in names)

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(self._values.get(name, ()))

    def listed(self, name: str) -> tuple[str, ...]:
        """Return the names in comma-separated values."""
        return tuple(word for value in self.all(name) for word in [*filter(None, value.split(","))] or [value])

    def one(self, name: str) -> str | None:
        """Return the only value, or ``None`` without one.

        :raises ArgumentError: if there are several.
        """
        values = self.all(name)
        if len(values) > 1:
            text = f"Found multiple arguments for option {name}, but you asked for only one"
            raise ArgumentError(text, "MultipleArgumentsForOptionException")
        return values[0] if values else None

    def number(self, name: str) -> int | None:
        """Return the only value as a Java long, or ``None`` without one.

        :raises ArgumentError: if it is not a long, or if there are several values.
        """
        value = self.one(name)
        return None if value is None else _long(name, value)

    def first_number(self, name: str) -> int | None:
        """Return the first value as a Java long, or ``None`` without one.

        :raises ArgumentError: if it is not a long.
        """
        values = self.all(name)
        return _long(name, values[0]) if values else None


def _long(name: str, value: str) -> int:
    if not re.fullmatch(r"[+-]?0{0,99}[0-9]{1,19}", value) or not -LONG <= int(value) < LONG:
        text = f"Cannot parse argument '{value}' of option {name}"
        raise ArgumentError(text, "OptionArgumentConversionException")
    return int(value)


def parse(options: Iterable[Option], words: Sequence[str], kind: str = "") -> ParsedOptions:
    """Parse a command line.

    :raises OptionError: if an option does not exist, lacks its value, or is not allowed with the other options.
    """
    known = {option.name: option for option in options}
    found: dict[str, list[str]] = {}
    pending = list(reversed(words))
    while pending:
        word = pending.pop()
        if word == "--":
            break
        if _looks_like_option(word):
            name, equals, value = word.removeprefix("--" if word.startswith("--") else "-").partition("=")
            _add_values(_known(known, name, word), value if equals else None, pending, found)
    _check_combinations(known, found)
    return ParsedOptions(found, kind)


def _looks_like_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _known(known: Mapping[str, Option], name: str, word: str) -> Option:
    if name not in known:
        # After one dash, joptsimple parses each letter as an option of one letter; the first one does not exist.
        raise OptionError(f"{name if word.startswith('--') else word[1]} is not a recognized option")
    return known[name]


def _add_values(option: Option, value: str | None, pending: list[str], found: dict[str, list[str]]) -> None:
    values = found.setdefault(option.name, [])
    if option.takes is Takes.NOTHING:
        return
    if value is not None:
        values.append(value)
    elif option.takes is Takes.MAYBE:
        if pending and not _looks_like_option(pending[-1]):
            values.append(pending.pop())
    elif pending:
        values.append(pending.pop())
    else:
        raise OptionError(f"Option {option.name} requires an argument")


def _check_combinations(known: Mapping[str, Option], found: Mapping[str, object]) -> None:
    if any(known[name].is_help for name in found):
        return
    missing = [option.name for option in known.values() if option.required and option.name not in found]
    if missing:
        raise OptionError(f"Missing required option(s) [{', '.join(missing)}]")
    unavailable = [name for name in found if known[name].only_with and not found.keys() & set(known[name].only_with)]
    if unavailable:
        raise OptionError(
            f"Option(s) [{', '.join(unavailable)}] are unavailable given other options on the command line"
        )
