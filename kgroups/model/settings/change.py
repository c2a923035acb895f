"""Plan changes of settings: the values of a group now, and its desired values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, Protocol

from kgroups.deprecation import warn_once
from kgroups.errors import Reason

from ..counts import some
from ..groups import Group, GroupId, GroupType, is_glob
from ..outcome import Failure, Outcome, Result, Scope, merge
from .setting import GROUP, GroupSettings, Setting, Value, matches_any

UNKNOWN = Value(None, None)


class PlannedSetting(NamedTuple):
    """One value to set for a group, or to remove.

    ``before`` and ``after`` are the values in effect; ``old`` and ``new`` are the values that are set for the group;
    ``None`` means not set. ``seen`` has all values that were set for the group at the plan; ``None`` means unknown.
    """

    group: GroupId
    name: str
    before: Value
    after: Value
    old: str | None
    new: str | None
    seen: frozenset[tuple[str, str | None]] | None = None

    @property
    def key(self) -> tuple[GroupId, str]:
        return self.group, self.name

    @property
    def group_id(self) -> GroupId:
        """The group ID; deprecated: use ``group``."""
        warn_once("kgroups.PlannedSetting.group_id", "kgroups.PlannedSetting.group")
        return self.group


class AppliedSetting(NamedTuple):
    """A planned setting after execution; ``failure`` is why it was not applied, or why that is unknown."""

    planned: PlannedSetting
    result: Result
    failure: Failure | None = None

    @property
    def group(self) -> GroupId:
        return self.planned.group

    @property
    def name(self) -> str:
        """The name of the setting."""
        return self.planned.name

    @property
    def old(self) -> str | None:
        """The value that was set for the group; ``None``: the group inherited it."""
        return self.planned.old

    @property
    def new(self) -> str | None:
        """The planned value; ``None``: the group inherits it."""
        return self.planned.new


class DesiredSettings(Protocol):
    """The desired settings of groups."""

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        """Return the names of settings, with the values to set for this group; ``None``: none."""


class SetAll(NamedTuple):
    """The same values for all groups."""

    values: Mapping[str, str]

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        return Outcome(tuple(self.values.items()))


class UnsetAll(NamedTuple):
    """No values of these names, or of names that match these globs, for all groups."""

    keys: Sequence[str]

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        known = {each.name for each in found.settings}
        failures = [
            Failure(
                Scope.GROUP,
                found.group,
                f"{key}: brokers have no such setting of groups",
                reason=Reason.NOT_APPLICABLE,
            )
            for key in self.keys
            if not is_glob(key) and key not in known
        ]
        names = [name for name in found.overrides if matches_any(name, self.keys)]
        return Outcome(tuple((name, None) for name in names), tuple(failures))


class Together(NamedTuple):
    """Desired settings in several parts, about different settings."""

    parts: Sequence[DesiredSettings]

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        return merge([each.of(found) for each in self.parts])


def plan_group(found: GroupSettings, desired: DesiredSettings) -> Outcome[PlannedSetting]:
    """Return the changes of a group, sorted by name; values that are already as wanted are omitted."""
    wanted = desired.of(found)
    now, seen = found.by_name, frozenset(found.overrides.items())
    planned = []
    for name, new in sorted(wanted.items):
        each = now.get(name, Setting(name, UNKNOWN, UNKNOWN))
        if new != each.override or (new is None) != (each.value.origin != GROUP):
            after = each.inherited if new is None else Value(new, GROUP)
            planned.append(PlannedSetting(found.group, name, each.value, after, each.override, new, seen))
    return wanted.with_items(planned)


_TYPES = {"consumer": GroupType.CONSUMER, "share": GroupType.SHARE, "streams": GroupType.STREAMS}
"""The group types that brokers apply settings to, by the first part of their names."""


def unused(planned: Iterable[PlannedSetting], groups: Iterable[Group]) -> list[str]:
    """Return a notice about values that are set for groups of a type that brokers do not apply them to."""
    types = {group.group: group.type for group in groups if group.type is not None}
    found: dict[tuple[str, str], list[GroupId]] = {}
    for each in planned:
        prefix = each.name.partition(".")[0]
        now = types.get(each.group)
        if each.new is not None and now is not None and prefix in _TYPES and _TYPES[prefix] != now:
            names = found.setdefault((prefix, now), [])
            if each.group not in names:
                names.append(each.group)
    return [
        f"not in effect: brokers apply {prefix}.* to {_TYPES[prefix]} groups only; {now} now: {some(names)}"
        for (prefix, now), names in sorted(found.items())
    ]


def changes_by_group(planned: Iterable[PlannedSetting]) -> dict[GroupId, dict[str, str | None]]:
    """Return group -> name -> new value."""
    ordered = sorted(planned, key=attrgetter("key"))
    return {group: {each.name: each.new for each in part} for group, part in groupby(ordered, key=attrgetter("group"))}


def changed_since(planned: Iterable[PlannedSetting], now: Mapping[GroupId, GroupSettings]) -> dict[GroupId, Failure]:
    """Return the groups whose settings have changed since the plan was made, each with the reason."""
    changed: dict[GroupId, Failure] = {}
    for each in planned:
        if (found := now.get(each.group)) is None:
            continue
        was, values = {**dict(each.seen or ()), each.name: each.old}, found.overrides
        names = [each.name] if each.seen is None else [each.name, *sorted(was.keys() | values.keys())]
        if name := next((name for name in names if values.get(name) != was.get(name)), None):
            message = (
                f"not changed: {name} has changed since the plan was made: it was {shown(was.get(name))}, "
                f"now {shown(values.get(name))}; run the command again"
            )
            changed.setdefault(each.group, Failure(Scope.GROUP, each.group, message, reason=Reason.CHANGED))
    return changed


def shown(value: str | None) -> str:
    """Return a value that is set for a group, for a message."""
    return "not set" if value is None else value or "empty"


class SettingChangeRow(NamedTuple):
    """One row of the plan and the result of ``settings set`` and ``unset``: values in effect."""

    group: str
    key: str
    old_value: str | None
    old_origin: str | None
    new_value: str | None
    new_origin: str | None
    result: str | None = None
    error: str | None = None


def setting_change_row(
    planned: PlannedSetting, columns: tuple[str | None, str | None] = (None, None)
) -> SettingChangeRow:
    return SettingChangeRow(*planned.key, *planned.before, *planned.after, *columns)
