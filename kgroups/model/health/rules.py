"""Rules from a TOML file: patterns of group names, and the requirements for these groups.

    [[rule]]
    groups = ["billing", "orders-*"]
    state = ["Stable"]
    min-members = 2
    max-lag = {warning = 1000, critical = 10_000}
    max-time-lag = "5m"

Groups named without ``*``, ``?``, or ``[`` must exist, and each glob must match a group: the group with exactly this
name, and those that match it. If several rules match a group, the first that sets a
requirement takes precedence. A rule with ``clusters = ["eu-*", "@prod"]`` applies only to the clusters of these
profiles.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from kgroups.errors import ConfigError

from ..groups import GroupId, is_glob
from .judge import CHECKS
from .limits import Limits
from .values import parse_words

KEYS = {check.key: check for check in CHECKS}

_HEADER = re.compile(r"\s*\[\[\s*rule\s*\]\]")


class Rule(NamedTuple):
    """The requirements for groups whose names match one of ``groups``."""

    groups: tuple[str, ...]
    limits: Limits
    clusters: tuple[str, ...] | None = None
    """Only these clusters; ``None``: all."""
    place: str = ""
    """The file and the line, for messages."""

    def concerns(self, cluster: str) -> bool:
        return self.clusters is None or cluster in self.clusters

    def fits(self, name: GroupId) -> bool:
        return any(fits(name, glob) for glob in self.groups)

    @property
    def names(self) -> Iterable[GroupId]:
        """The groups that must exist."""
        return (name for name in self.groups if not is_glob(name))


def fits(name: GroupId, glob: str) -> bool:
    """Return whether a rule's glob means a group: it matches the name, or it is the name, such as ``team[eu]``."""
    return name == glob or fnmatchcase(name, glob)


def limits_of(name: GroupId, first: Limits, rules: Iterable[Rule]) -> Limits:
    """Return the requirements for a group: ``first``, completed from the rules."""
    for rule in rules:
        if rule.fits(name):
            first = first.or_else(rule.limits)
    return first


def parse_rules(text: str, where: str) -> tuple[Rule, ...]:
    """Parse rules.

    :param where: the name of the file.
    :raises ConfigError: if it is not valid TOML, or has invalid rules; the message names the file, the line, and the
        key.
    """
    try:
        return _rules(text, where)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{where}: nested too deeply") from None
    except ValueError:  # Python does not convert numbers of thousands of digits
        raise ConfigError(f"{where}: contains a number that is too long") from None


def _rules(text: str, where: str) -> tuple[Rule, ...]:
    document = tomllib.loads(text)
    tables = document.pop("rule", None)
    if document:
        raise ConfigError(f"{where}: unknown key '{next(iter(document))}'; a rules file contains [[rule]] tables")
    if not isinstance(tables, list) or not tables:
        raise ConfigError(f"{where}: no [[rule]] table found")
    return tuple(_rule(table, place) for table, place in zip(tables, _places(text, where, len(tables)), strict=True))


def _places(text: str, where: str, tables: int) -> list[_Place]:
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _HEADER.match(line)]
    if len(starts) != tables:  # inline tables, for example
        return [_Place(where, 0, ())] * tables
    ends = [*starts[1:], len(lines)]
    return [_Place(where, start + 1, lines[start:end]) for start, end in zip(starts, ends, strict=True)]


class _Place(NamedTuple):
    """Where a table is; tomllib does not tell."""

    file: str
    first: int
    """The number of its first line, from 1; 0 if unknown."""
    lines: Sequence[str]

    def of(self, key: str = "") -> str:
        """Return the file, and the line of a key if it is found, otherwise of the table."""
        entry = re.compile(rf"""\s*(["']?){re.escape(key)}\1\s*[.=]""")
        offset = next((number for number, line in enumerate(self.lines) if key and entry.match(line)), 0)
        return f"{self.file}, line {self.first + offset}" if self.first else self.file


def _rule(table: object, place: _Place) -> Rule:
    if not isinstance(table, dict):
        raise ConfigError(f"{place.of()}: rule must be a table: [[rule]]")
    entries = dict(table)
    groups = _names(entries.pop("groups", []), place, "groups")
    clusters = _names(entries.pop("clusters"), place, "clusters") if "clusters" in entries else None
    limits: dict[str, Any] = {}
    for key, value in entries.items():
        if key not in KEYS:
            raise ConfigError(f"{place.of(key)}: unknown key '{key}'; use groups, clusters, {', '.join(KEYS)}")
        check = KEYS[key]
        _check_size(value)
        try:
            limits[check.field] = check.read(value)
        except ValueError as error:
            raise ConfigError(f"{place.of(key)}: {key}: {str(error) or f'{value!r} is not {check.kind}'}") from None
    if not groups:
        raise ConfigError(f'{place.of()}: missing key groups: set groups = ["name", "glob-*"]')
    if clusters == ():
        raise ConfigError(
            f'{place.of("clusters")}: clusters is empty: set clusters = ["profile", "glob-*"], or remove it'
        )
    return Rule(groups, Limits(**limits), clusters, place.of("groups"))


def _names(value: object, place: _Place, key: str) -> tuple[str, ...]:
    try:
        return parse_words(value)
    except ValueError:
        raise ConfigError(f"{place.of(key)}: {key} must be a list of names or globs") from None


def _check_size(value: object) -> None:
    """Check the size of numbers.

    :raises ValueError: if a number is out of TOML's range.
    """
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, int) and not -(1 << 63) <= each < 1 << 63:
            raise ValueError
