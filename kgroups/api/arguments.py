"""Check the arguments of the Python API: an invalid one is a UsageError, raised before a broker is contacted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

from kgroups.admin.query.list_groups import ListFilter
from kgroups.admin.query.member_filter import MemberFilter
from kgroups.admin.query.pattern import Glob, compile_pattern
from kgroups.admin.query.select_groups import Selection
from kgroups.config.settings import Transport
from kgroups.errors import UsageError
from kgroups.model import outcome as model
from kgroups.model.groups import ANY_REBALANCING, GroupState, GroupType, canonical_word, check_sendable, states_of
from kgroups.model.health.limits import Limits
from kgroups.model.offsets import Commit
from kgroups.model.operations.reset import (
    FromPlan,
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToGroup,
    ToLatest,
    ToOffset,
    ToTime,
)
from kgroups.model.settings.change import DesiredSettings, SetAll, Together, UnsetAll
from kgroups.model.topic_scope import TopicScope, parse_topic_scope
from kgroups.model.views.lag_summary import By

from .outcome import Outcome
from .undo import Change, SettingsChange

if TYPE_CHECKING:
    from kgroups.admin.snapshot.restore import Restore

P = TypeVar("P")

_OFFSETS = "a dict such as {('group', 'topic', 0): 11}"
_SCENARIOS = (ToEarliest, ToLatest, ToCurrent, ToOffset, ShiftBy, ToTime, FromPlan, ToGroup)


class GroupFilters(TypedDict, total=False):
    """Filters of groups that are not selected by name, as the options of commands with these names.

    Without group names, ``regex``, and ``topics``, they filter all groups. A group is kept if it passes all of them.

    Attributes:
        states: Only groups in one of these states, such as ``Empty``; ``rebalancing`` is any state of a rebalance.
        types: Only groups of one of these types, such as ``Consumer``.
        exclude: RE2 regular expression: groups whose whole IDs match are left out.
        hosts: Only groups with a member on one of these hosts: addresses, or globs such as ``10.0.4.*``.
        client_ids: Only groups with a member of one of these client IDs, or globs. With ``hosts``, one member has both.
        coordinators: Only groups that one of these brokers coordinates: IDs, hosts, ``host:port``, or globs.
    """

    states: Iterable[str]
    types: Iterable[str]
    exclude: str | None
    hosts: Iterable[str]
    client_ids: Iterable[str]
    coordinators: Iterable[str | int]


def filters(values: Mapping[str, Any]) -> GroupFilters:
    """Check and return filters, without those that are empty, and with tuples for what can be iterated over only once.

    :raises TypeError: for an unknown filter.
    :raises UsageError: for an invalid value.
    """
    if unknown := next((name for name in values if name not in GroupFilters.__annotations__), None):
        raise TypeError(f"unexpected keyword argument {unknown!r} (filters: {', '.join(GroupFilters.__annotations__)})")
    found = {name: _CHECKS[name](name, value) for name, value in values.items()}
    return cast("GroupFilters", {name: value for name, value in found.items() if value not in (None, ())})


def _patterns(name: str, values: object) -> tuple[str, ...]:
    """Return globs; a number is the ID of a broker."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        values = [str(value) if type(value) is int and name == "coordinators" else value for value in values]
    found = _strings(name, values)
    if "" in found:
        raise UsageError(f"{name}: a value must not be empty")
    return found


def selection(
    groups: Sequence[object],
    regex: str | None,
    topics: Iterable[str] | None,
    all_groups: bool,
    given: GroupFilters | None = None,
    *,
    all_by_default: bool = False,
) -> Selection:
    """Return the selected groups.

    :param given: the checked filters, for methods that only read.
    :param all_by_default: whether no argument selects all groups.
    :raises UsageError: if none is selected, or an argument is invalid.
    """
    flag("all_groups", all_groups)
    names = tuple(dict.fromkeys(_group(name) for name in groups))
    topic_names = frozenset(_topic(topic) for topic in _strings("topics", topics or ()))
    if all_groups and (names or regex is not None):
        raise UsageError("all_groups=True excludes group names and regex=")
    if not (names or regex is not None or topic_names or all_groups or given or all_by_default):
        raise UsageError("no groups selected; pass group names, regex=, or all_groups=True")
    if names and given:
        raise UsageError(
            f"the group {names[0]!r} is selected by name and cannot be filtered by {next(iter(given))}=; use regex= or "
            "all_groups=True"
        )
    everything = all_groups or (not names and regex is None)
    pattern = None
    if text("regex", regex) is not None:
        pattern = compile_pattern(str(regex), "regex")
    found = Selection(names, pattern, everything, topic_names)
    return _filtered(found, given) if given else found


def _filtered(found: Selection, given: GroupFilters) -> Selection:
    def globs(values: Iterable[str | int]) -> tuple[Glob, ...]:
        return tuple(Glob(str(value), literal=True) for value in values)

    members = MemberFilter(globs(given.get("hosts", ())), globs(given.get("client_ids", ())))
    exclude = given.get("exclude")
    return found._replace(
        among=ListFilter(
            tuple(given.get("states", ())),
            tuple(given.get("types", ())),
            coordinators=globs(given.get("coordinators", ())),
        ),
        excluded=None if exclude is None else compile_pattern(exclude, "exclude"),
        members=members if any(members) else None,
    )


def _group(name: object) -> str:
    if not isinstance(name, str):
        hint = "; unpack a list of names: *names" if isinstance(name, (list, tuple, set, frozenset)) else ""
        raise UsageError(f"a group name must be a str, not {type(name).__name__}{hint}")
    if not name:
        raise UsageError("a group name must not be empty")
    check_sendable(name, "groups")
    return name


def _topic(topic: str) -> str:
    if not topic:
        raise UsageError("topics: a topic name must not be empty")
    check_sendable(topic, "topics")
    return topic


def _strings(name: str, values: object) -> tuple[str, ...]:
    """Return several strings; a single one would be taken letter by letter."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a list of str, not {type(values).__name__}")
    found = tuple(values)
    for value in found:
        if not isinstance(value, str):
            raise UsageError(f"{name} must be a list of str, not of {type(value).__name__}")
    return found


def states(values: Iterable[str]) -> tuple[str, ...]:
    """Check and return states of groups; ``rebalancing`` is several.

    :raises UsageError: for an unknown state.
    """
    return states_of(_known("states", values, (*GroupState.ALL, ANY_REBALANCING)))


def types(values: Iterable[str]) -> tuple[str, ...]:
    """Check and return group types.

    :raises UsageError: for an unknown group type.
    """
    return _known("types", values, GroupType.ALL)


def _known(name: str, values: Iterable[str], valid: Sequence[str]) -> tuple[str, ...]:
    found = {value: canonical_word(value, valid) for value in _strings(name, values)}
    for value, word in found.items():
        if word is None:
            raise UsageError(f"{name}: unknown value {value!r} (valid: {', '.join(valid)})")
    return tuple(word for word in found.values() if word)


def seconds(name: str, value: Any) -> Any:
    """Check and return a number of seconds.

    :raises UsageError: for something other than a positive number, or ``None``.
    """
    return _positive(name, value, "a positive number of seconds")


def rate(value: Any) -> Any:
    """Check and return a number of requests per second.

    :raises UsageError: for something other than a positive number, or ``None``.
    """
    return _positive("max_requests_per_second", value, "a positive number")


def _positive(name: str, value: Any, what: str) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0):
        raise UsageError(f"{name} must be {what}, not {value!r}")
    return value


def flag(name: str, value: object) -> bool:
    """Check and return a boolean.

    :raises UsageError: for something else, such as the string "false", which is true.
    """
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be a bool, not {type(value).__name__}")
    return value


def text(name: str, value: Any) -> Any:
    """Check and return a string.

    :raises UsageError: for something other than a str, or ``None``.
    """
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} must be a str, not {type(value).__name__}")
    return value


def transport(value: Any) -> Any:
    """Check and return a transport.

    :raises UsageError: for an unknown transport.
    """
    if value is not None and value not in tuple(Transport):
        raise UsageError(f"transport: unknown value {value!r} (valid: {', '.join(Transport)})")
    return value


def split(by: str) -> By:
    """Check and return the unit of lag.

    :raises UsageError: for an unknown unit.
    """
    try:
        return By(by)
    except ValueError:
        raise UsageError(f"by: unknown value {by!r} (valid: {', '.join(By)})") from None


def scenario(to: object) -> Scenario:
    """Check and return the scenario of a reset.

    :raises UsageError: for something that is not a scenario, such as a string, or one with an invalid value.
    """
    if not isinstance(to, _SCENARIOS):
        names = ", ".join(kind.__name__ for kind in _SCENARIOS)
        raise UsageError(f"to must be a scenario of kgroups ({names}), not {to!r}")
    if isinstance(to, FromPlan):
        _check_offsets(to.moves)
    for name in ("offset", "by", "ms"):
        value = getattr(to, name, 0)
        if type(value) is not int or (value < 0 and name == "offset"):
            raise UsageError(f"to: {value!r} is not a valid {name}")
    if isinstance(source := getattr(to, "source", "x"), str) and source:
        return to
    raise UsageError("to: the group to copy must be a non-empty str")


def _check_offsets(offsets: object) -> None:
    """Check the offsets of a FromPlan, of which ints are commits already.

    :raises UsageError: if they are not by group, topic, and partition, or one of them is invalid.
    """
    if not isinstance(offsets, Mapping):
        raise UsageError(f"to: FromPlan takes {_OFFSETS}, not {type(offsets).__name__}")
    for key, value in offsets.items():
        is_key = isinstance(key, tuple) and [type(part) for part in key] == [str, str, int]
        if not is_key or not key[0] or not key[1] or key[2] < 0:
            raise UsageError(f"to: {key!r} is not (group, topic, partition); FromPlan takes {_OFFSETS}")
        if not isinstance(value, Commit | None) or (value and (type(value.offset) is not int or value.offset < 0)):
            raise UsageError(f"to: {value!r} is not an offset, a Commit, or None; FromPlan takes {_OFFSETS}")
        if value and value.partition != key[2]:
            raise UsageError(f"to: the Commit for {key!r} is for partition {value.partition}")


def scope(topics: Iterable[str] | None) -> TopicScope | None:
    """Check and return the partitions that topics select; ``None`` for all committed ones.

    :raises UsageError: if it names no topic, or something invalid.
    """
    if topics is None:
        return None
    words = _strings("topics", topics)
    if not words:
        raise UsageError("topics is empty; omit it for all committed partitions")
    return parse_topic_scope(words)


def limits(value: object) -> Limits:
    """Check and return the limits of a check.

    :raises UsageError: if it is not a Limits.
    """
    if not isinstance(value, Limits):
        raise UsageError(f"limits must be kgroups.Limits, not {type(value).__name__}")
    return value


def plan(value: object, kind: type[P]) -> tuple[P, ...]:
    """Check and return the items of a plan.

    :raises UsageError: for something other than planned changes of this kind, such as the outcome that holds them.
    """
    if isinstance(value, (Outcome, model.Outcome)):
        raise UsageError("pass the items of the plan, plan.items, not the whole outcome")
    entries = tuple(value) if isinstance(value, Iterable) and not isinstance(value, (str, kind)) else (None,)
    for entry in entries:
        if not isinstance(entry, kind):
            raise UsageError(f"the plan must be a list of {kind.__name__}, not {type(value).__name__}")
    return tuple(entry for entry in entries if isinstance(entry, kind))


def keys(values: Iterable[str]) -> tuple[str, ...]:
    """Check and return names of settings, or globs.

    :raises UsageError: for something other than a list of names.
    """
    return _strings("keys", values)


def desired_settings(values: object) -> DesiredSettings:
    """Check and return the desired settings: name -> value; ``None``: not set for the group.

    :raises UsageError: for something other than a mapping of names to values, or an empty one.
    """
    if not isinstance(values, Mapping) or not all(isinstance(key, str) and key for key in values):
        raise UsageError("values must be a dict of str to str, int, bool, or None")
    if not values:
        raise UsageError("values is empty; pass the settings to change")
    texts = {key: _setting(key, each) for key, each in values.items()}
    wanted = {key: text for key, text in texts.items() if text is not None}
    return Together((SetAll(wanted), UnsetAll([key for key in texts if key not in wanted])))


def _setting(key: str, value: object) -> str | None:
    if value is not None and not isinstance(value, (str, int)):
        raise UsageError(f"values: {key} must be a str, int, bool, or None, not {type(value).__name__}")
    check_sendable(f"{key}={value}", "values")
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def path(name: str, value: object) -> str | None:
    """Check and return a path.

    :raises UsageError: for something other than a path of text, or ``None``.
    """
    if value is None:
        return None
    try:
        found = os.fspath(value)  # type: ignore[call-overload]
    except TypeError:
        found = value
    if not isinstance(found, str):
        raise UsageError(f"{name} must be a str or a path, not {type(value).__name__}")
    return found


def file(value: object) -> Path:
    """Check and return the path of a file.

    :raises UsageError: for something other than a path of text.
    """
    found = path("file", value)
    if not found:
        raise UsageError("file must be a str or a path, and not empty")
    return Path(found)


def samples(value: object) -> int:
    """Check and return a number of samples.

    :raises UsageError: for something other than a positive int.
    """
    if type(value) is not int or value < 1:
        raise UsageError(f"samples must be a positive int, not {value!r}")
    return value


def restore(file_name: object, groups: Sequence[object]) -> Restore:
    """Return what to restore: these groups of a snapshot, or all of its groups.

    :raises UsageError: if the file is not a complete snapshot, or lacks a group, or an argument is invalid.
    """
    from kgroups.admin.snapshot.file import read_snapshot
    from kgroups.admin.snapshot.restore import Restore

    source = file(file_name)
    name = str(source)
    snapshot = read_snapshot(source)
    names = selection(groups, None, (), all_groups=False).names if groups else snapshot.names
    snapshot.check_names(names, name)
    return Restore(snapshot, name, names)


def properties(value: object) -> tuple[tuple[str, str], ...]:
    """Check and return properties of the client.

    :raises UsageError: for something other than a mapping of names to values, or ``None``.
    """
    if value is None:
        return ()
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise UsageError("properties must be a dict of str to str")
    return tuple((key, str(each)) for key, each in value.items())


def change(value: object) -> Change | SettingsChange:
    """Check and return the change of an outcome.

    :raises UsageError: for something other than the outcome of a change.
    """
    if isinstance(value, Outcome) and value.change is not None:
        return value.change
    raise UsageError("undo takes the outcome of apply, delete_offsets, delete, or alter_settings, not its items")


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "states": lambda _, values: states(values),
    "types": lambda _, values: types(values),
    "exclude": text,
    "hosts": _patterns,
    "client_ids": _patterns,
    "coordinators": _patterns,
}
"""The check of each filter."""
