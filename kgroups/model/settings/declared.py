"""The settings that groups should have, from a TOML file.

::

    [groups."orders-*"]
    consumer.session.timeout.ms = 45000

    [groups.orders-eu]
    consumer.session.timeout.ms = 60000

A table is for the group with this name, or for all groups that match a glob. For each setting of a group, the most
specific table that contains it takes precedence: the exact name, then the glob with the most characters that are not
wildcards.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from kgroups.errors import ConfigError, Reason

from ..groups import GroupId, check_sendable, is_glob
from ..outcome import Failure, Outcome, Scope
from .setting import GROUP, GroupSettings

_WILDCARDS = re.compile(r"\[[^\]]*\]|[*?]")
_SHAPE = 'use [groups."NAME"] tables with keys such as consumer.session.timeout.ms = 45000'


class Table(NamedTuple):
    """The settings of one group, or of the groups that match a glob."""

    pattern: str
    values: Mapping[str, str]

    def fits(self, name: GroupId) -> bool:
        return name == self.pattern or fnmatchcase(name, self.pattern)

    def rank(self, name: GroupId) -> tuple[bool, int]:
        """Return how specific the table is for a group: the higher, the more."""
        return name == self.pattern, len(_WILDCARDS.sub("", self.pattern))


class Declared(NamedTuple):
    """The tables of a file; ``exact``: groups should have only these values."""

    name: str
    tables: tuple[Table, ...]
    exact: bool = False

    @property
    def names(self) -> tuple[GroupId, ...]:
        """The groups that are named exactly."""
        return tuple(each.pattern for each in self.tables if not is_glob(each.pattern))

    @property
    def globs(self) -> tuple[str, ...]:
        return tuple(each.pattern for each in self.tables if is_glob(each.pattern))

    def concerns(self, group: GroupId) -> bool:
        """Return whether a table is for this group."""
        return any(each.fits(group) for each in self.tables)

    def values(self, group: GroupId) -> dict[str, str]:
        """Return the values that a group should have.

        :raises ConfigError: if two tables that are equally specific contradict each other.
        """
        chosen: dict[str, tuple[tuple[bool, int], Table]] = {}
        for table in self.tables:
            if table.fits(group):
                rank = table.rank(group)
                for key in table.values:
                    best = chosen.get(key)
                    if best and best[0] == rank and best[1].values[key] != table.values[key]:
                        raise ConfigError(
                            f"{self.name}: {key} of group '{group}': the tables {best[1].pattern!r} and "
                            f"{table.pattern!r} are equally specific and contradict each other"
                        )
                    if best is None or rank > best[0]:
                        chosen[key] = rank, table
        return {key: table.values[key] for key, (_, table) in chosen.items()}

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        wanted: dict[str, str | None] = {}
        if self.exact and self.concerns(found.group):
            wanted.update(dict.fromkeys(found.overrides))
        return Outcome(tuple((wanted | self.values(found.group)).items()))


def parse_declared(text: str, where: str) -> Declared:
    """Parse a file.

    :param where: its name, for errors.
    :raises ConfigError: if it is not valid TOML, or not of this format; the message names the file, and the line or
        the key.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{where}: nested too deeply") from None
    except ValueError:  # Python does not convert numbers of thousands of digits
        raise ConfigError(f"{where}: contains a number that is too long") from None
    groups = document.pop("groups", None)
    if document:
        raise ConfigError(f"{where}: unknown key {next(iter(document))!r}; {_SHAPE}")
    if not isinstance(groups, dict) or not groups:
        raise ConfigError(f"{where}: no [groups] table found; {_SHAPE}")
    return Declared(where, tuple(_table(pattern, table, where) for pattern, table in groups.items()))


def _table(pattern: str, table: object, where: str) -> Table:
    place = f"{where}: groups.{pattern!r}"
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: must be a table; {_SHAPE}")
    if not pattern:
        raise ConfigError(f"{place}: the name of a group must not be empty")
    check_sendable(pattern, where)
    values = dict(_flat(table, "", place))
    if not values:
        raise ConfigError(f"{place}: contains no settings")
    return Table(pattern, values)


def _flat(table: Mapping[str, Any], prefix: str, place: str) -> Iterator[tuple[str, str]]:
    """Yield the settings of a table. TOML makes nested tables of keys with dots."""
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict):
            yield from _flat(value, f"{name}.", place)
        elif isinstance(value, bool):
            yield name, str(value).lower()
        elif isinstance(value, str | int):
            text = str(value)
            check_sendable(text, f"{place}: {name}")
            yield name, text
        else:
            raise ConfigError(f"{place}: {name}: must be a string, an integer, or true or false")


class DriftRow(NamedTuple):
    """One difference between a file and a group.

    ``declared`` is the value in the file, ``value`` the one in effect. ``result``: ``differs``; ``not set``: the group
    inherits its value; or ``not in file``.
    """

    group: str
    key: str
    declared: str | None
    value: str | None
    origin: str | None
    result: str


def drift(found: GroupSettings, declared: Declared) -> list[DriftRow]:
    """Return how a group differs from a file, sorted by key."""
    rows = []
    now = found.by_name
    for key, wanted in sorted(declared.of(found).items):
        each = now.get(key)
        value, origin = each.value if each else (None, None)
        if wanted is None:
            result = "not in file"
        elif origin != GROUP:
            result = "not set"
        elif value != wanted:
            result = "differs"
        else:
            continue
        rows.append(DriftRow(found.group, key, wanted, value, origin, result))
    return rows


def unknown_keys(found: Iterable[GroupSettings], declared: Declared) -> list[Failure]:
    """Return a failure for each declared setting that the broker of a group does not have."""
    failures = []
    for each in found:
        known = each.by_name
        failures += [
            Failure(
                Scope.GROUP,
                each.group,
                f"{key}: brokers have no such setting of groups",
                reason=Reason.NOT_APPLICABLE,
            )
            for key in declared.values(each.group)
            if key not in known
        ]
    return failures


def unmatched(declared: Declared, groups: Collection[GroupId]) -> list[str]:
    """Return the selected groups that no table is for, sorted."""
    return sorted(name for name in groups if not declared.concerns(name))
