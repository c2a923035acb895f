"""Rules from a TOML file: which groups, and what is expected of them.

    [[rule]]
    groups = ["billing", "orders-*"]
    state = ["Stable"]
    min-members = 2
    max-lag = {warning = 1000, critical = 10_000}
    max-time-lag = "5m"

Names without ``*``, ``?`` or ``[`` must exist. Where several rules fit a group, the first that sets an expectation
wins.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from kgroups.errors import ConfigError

from ..duration import parse_seconds
from ..groups import GroupId, GroupState, GroupType, canonical_word
from .limits import Limits
from .severity import Threshold

_HEADER = re.compile(r"\s*\[\[\s*rule\s*\]\]")


class Rule(NamedTuple):
    """What is expected of the groups whose names are like one of ``groups``."""

    groups: tuple[str, ...]
    limits: Limits

    def fits(self, name: GroupId) -> bool:
        return any(fnmatchcase(name, glob) for glob in self.groups)

    @property
    def names(self) -> Iterable[GroupId]:
        """The groups that must exist."""
        return (name for name in self.groups if not is_glob(name))


def is_glob(text: str) -> bool:
    return any(char in text for char in "*?[")


def limits_of(name: GroupId, first: Limits, rules: Iterable[Rule]) -> Limits:
    """What is expected of a group: ``first``, and what that leaves open as the rules say."""
    for rule in rules:
        if rule.fits(name):
            first = first.or_else(rule.limits)
    return first


def parse_rules(text: str, where: str) -> tuple[Rule, ...]:
    """The rules of a file named ``where``.

    :raises ConfigError: when it is not TOML, or says what cannot be; with the file, the line and the key.
    """
    try:
        return _rules(text, where)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{where}: it is nested too deeply") from None
    except ValueError:  # of Python, which neither reads nor writes a number of thousands of digits
        raise ConfigError(f"{where}: it holds a number that is too long") from None


def _rules(text: str, where: str) -> tuple[Rule, ...]:
    document = tomllib.loads(text)
    tables = document.pop("rule", None)
    if document:
        raise ConfigError(f"{where}: '{next(iter(document))}' is not known: a file of rules has [[rule]] tables")
    if not isinstance(tables, list) or not tables:
        raise ConfigError(f"{where}: there is no [[rule]] in it")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    places = [f"{where}, line {line}" for line in lines] if len(lines) == len(tables) else [where] * len(tables)
    return tuple(_rule(table, place) for table, place in zip(tables, places, strict=True))


def _rule(table: object, place: str) -> Rule:
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: a rule is a table: [[rule]]")
    wanted = dict(table)
    try:
        groups = _words(wanted.pop("groups", []))
    except ValueError:
        raise ConfigError(f"{place}: groups must be a list of names or globs") from None
    said: dict[str, Any] = {}
    for key, value in wanted.items():
        if key not in _KEYS:
            raise ConfigError(f"{place}: '{key}' is not known; a rule may have groups, {', '.join(_KEYS)}")
        field, read, kind = _KEYS[key]
        _check_size(value)
        try:
            said[field] = read(value)
        except ValueError as error:
            raise ConfigError(f"{place}: {key}: {str(error) or f'{value!r} is not {kind}'}") from None
    if not groups:
        raise ConfigError(f'{place}: missing key groups: set groups = ["name", "glob-*"]')
    return Rule(groups, Limits(**said))


def _check_size(value: object) -> None:
    """:raises ValueError: for a number beyond those of TOML."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int) and not -(1 << 63) <= each < 1 << 63:
            raise ValueError


def _words(value: object) -> tuple[str, ...]:
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise ValueError
    return tuple(words)


def parse_states(value: object) -> frozenset[str]:
    """:raises ValueError: with the word that is no state."""
    states = {word: canonical_word(word, GroupState.ALL) for word in _words(value)}
    for word, state in states.items():
        if state is None:
            raise ValueError(f"{word!r} is not a state; there are {', '.join(GroupState.ALL)}")
    return frozenset(filter(None, states.values()))


def parse_type(value: object) -> str:
    """:raises ValueError: for what is no type."""
    found = canonical_word(value, GroupType.ALL) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{value!r} is not a type; there are {', '.join(GroupType.ALL)}")
    return found


def parse_threshold(value: object) -> Threshold:
    """Of a number, ``"WARNING,CRITICAL"`` or a table with these; a number alone is critical.

    :raises ValueError: for what is none.
    """
    return _threshold(value, _count)


def parse_time_threshold(value: object) -> Threshold:
    """The same of spans of time, as milliseconds: ``"30s,5m"``."""
    return _threshold(value, _milliseconds)


def _threshold(value: object, number: Callable[[object], float]) -> Threshold:
    if isinstance(value, Mapping):
        if not value or value.keys() - {"warning", "critical"}:
            raise ValueError("a limit has warning, critical, or both")
        return _ordered(Threshold(**{key: number(part) for key, part in value.items()}))
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else [value]
    if len(parts) > 2:
        raise ValueError(f"{value!r} has more than two limits: WARNING,CRITICAL")
    limits = [number(part) for part in parts]
    return _ordered(Threshold(*limits) if len(limits) == 2 else Threshold(critical=limits[0]))


def _ordered(threshold: Threshold) -> Threshold:
    warning, critical = threshold
    if warning is not None and critical is not None and warning > critical:
        raise ValueError("the warning limit is above the critical one")
    return threshold


def _count(value: object) -> float:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,18}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a number of records")
    return value


def _milliseconds(value: object) -> float:
    seconds = None if isinstance(value, bool) else parse_seconds(str(value))
    if seconds is None:
        raise ValueError(f"{value!r} is not a time such as 500ms, 30s, 5m or 2h")
    return seconds * 1000


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _by_topic(value: object) -> tuple[tuple[str, Threshold], ...]:
    if not isinstance(value, dict):
        raise ValueError
    return tuple((glob, parse_threshold(limit)) for glob, limit in value.items())


_KEYS: Mapping[str, tuple[str, Callable[[object], Any], str]] = {
    "state": ("states", parse_states, "a state, or a list of states"),
    "type": ("type", parse_type, "a type"),
    "assignor": ("assignor", _name, "a name"),
    "members": ("members", _whole, "a number"),
    "min-members": ("min_members", _whole, "a number"),
    "stopped": ("stopped", _flag, "true or false"),
    "assigned": ("assigned", _flag, "true or false"),
    "max-lag": ("lag", parse_threshold, "a limit"),
    "max-partition-lag": ("partition_lag", parse_threshold, "a limit"),
    "max-topic-lag": ("topic_lag", _by_topic, "a table of globs and limits"),
    "max-time-lag": ("time_lag", parse_time_threshold, "a limit"),
    "max-commit-age": ("commit_age", parse_time_threshold, "a limit"),
    "trend": ("trend", _flag, "true or false"),
    "allow-uncommitted": ("allow_uncommitted", _flag, "true or false"),
}
"""Key -> the field of :class:`Limits`, how it is read, and what it has to be."""
