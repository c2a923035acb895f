"""A setting of a group: its value in effect, and where that comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from ..effective_setting import NOT_REPORTED, Effective
from ..groups import GroupId

GROUP = "dynamic-group"
"""The origin of a value that is set for one group."""

ORIGINS: Mapping[int, str] = {
    2: "dynamic-broker",
    3: "dynamic-default-broker",
    4: "static-broker",
    5: "default",
    8: GROUP,
}
"""Kafka's source of a value -> its name, as Kafka spells it, without ``_CONFIG``."""


class Value(NamedTuple):
    """A value and its origin; ``None``: unknown, or not set."""

    text: str | None
    origin: str | None


class Setting(NamedTuple):
    """One setting of one group.

    ``inherited``: the value in effect without one that is set for the group.
    """

    name: str
    value: Value
    inherited: Value

    @property
    def override(self) -> str | None:
        """The value that is set for the group; ``None``: not set."""
        return self.value.text if self.value.origin == GROUP else None


class GroupSettings(NamedTuple):
    """All settings of a group, sorted by name; the group need not exist."""

    group: GroupId
    settings: tuple[Setting, ...]

    @property
    def overrides(self) -> dict[str, str | None]:
        """The values that are set for the group."""
        return {each.name: each.value.text for each in self.settings if each.value.origin == GROUP}

    @property
    def by_name(self) -> dict[str, Setting]:
        return {each.name: each for each in self.settings}

    def effective(self, name: str) -> Effective:
        """Return the value in effect; coordinators do not report settings that are newer than they are."""
        found = self.by_name.get(name)
        return Effective(name, found.value.text) if found else Effective(name, unknown=NOT_REPORTED)


class SettingRow(NamedTuple):
    """One row of ``settings show``."""

    group: str
    key: str
    value: str | None
    origin: str | None
    inherited: str | None
    inherited_origin: str | None


def setting_rows(found: GroupSettings, keys: Iterable[str] = (), *, overridden: bool = False) -> list[SettingRow]:
    """Return the rows of a group.

    :param keys: names or globs of the settings to show; empty: all.
    :param overridden: whether to show only values that are set for the group.
    """
    return [
        SettingRow(found.group, each.name, *each.value, *each.inherited)
        for each in found.settings
        if (not overridden or each.value.origin == GROUP) and (not keys or matches_any(each.name, keys))
    ]


def matches_any(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
