"""The groups that options select."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from kgroups.admin.query.list_groups import ListFilter
from kgroups.admin.query.pattern import Glob, compile_pattern
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.groups import (
    ANY_REBALANCING,
    GroupState,
    GroupType,
    canonical_word,
    check_sendable,
    is_glob,
    states_of,
)

from .options import split_values


class GroupOptions(NamedTuple):
    """The group options, before they are checked; ``topics`` is ``None`` if topics do not select groups."""

    positional: tuple[str, ...]
    groups: tuple[str, ...]
    regex: str | None
    all_groups: bool
    exclude: str | None = None
    topics: tuple[str, ...] | None = None
    in_states: tuple[str, ...] = ()
    of_types: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    client_ids: tuple[str, ...] = ()
    coordinators: tuple[str, ...] = ()
    changes: bool = False
    """Whether the groups are changed: a topic, state, or type alone then selects none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The groups selected by name, without duplicates."""
        return tuple(dict.fromkeys((*(name for name in self.positional if not is_glob(name)), *self.groups)))

    @property
    def globs(self) -> tuple[str, ...]:
        """The globs, without duplicates."""
        return tuple(dict.fromkeys(filter(is_glob, self.positional)))

    @property
    def any_given(self) -> bool:
        return self._any_selected or (self._restricted and not self.changes)

    @property
    def is_everything(self) -> bool:
        """Whether all groups are selected, without a restriction."""
        return self.all_groups and not self._restricted

    @property
    def _restricted(self) -> bool:
        return bool(self.topics or any(self._filters.values()))

    @property
    def _filters(self) -> dict[str, tuple[str, ...]]:
        """The values of each filter that names cannot be combined with."""
        return {
            "--exclude": () if self.exclude is None else (self.exclude,),
            "state": self.in_states,
            "type": self.of_types,
            "host": self.hosts,
            "client ID": self.client_ids,
            "coordinator": self.coordinators,
        }

    @property
    def _any_selected(self) -> bool:
        return bool(self.positional or self.groups or self.regex is not None or self.all_groups)

    def selection(self, *, all_by_default: bool = False) -> Selection:
        """Return the selected groups.

        :param all_by_default: whether no option selects all groups.
        :raises UsageError: if no group is selected, a name is invalid, or the regular expression is invalid.
        """
        if not (self.any_given or all_by_default):
            topic = "" if self.changes or self.topics is None else " --topic"
            raise UsageError(
                f"no groups selected; use GROUP, --group, --regex{',' if topic else ''}{topic} or --all-groups"
            )
        for name in (*self.names, *self.globs):
            check_name(name)
        if self.all_groups and (self.names or self.globs or self.regex is not None):
            given = f"the group {(*self.names, *self.globs)[0]!r}" if self.names or self.globs else "--regex"
            raise UsageError(f"--all-groups cannot be combined with {given}")
        everything = self.all_groups or not self._any_selected
        topics = split_values(self.topics or ())
        for topic in topics:
            _check_topic(topic, self.names)
        selection = Selection(self.names, everything=everything, topics=frozenset(topics))
        if self.regex is not None or self.globs:
            pattern = None if self.regex is None else compile_pattern(self.regex, "--regex")
            selection = selection._replace(pattern=pattern, globs=tuple(map(Glob, self.globs)))
        return self._filtered(selection) if any(self._filters.values()) else selection

    def _filtered(self, selection: Selection) -> Selection:
        """Return the selection, restricted by states, types, coordinators, and members.

        :raises UsageError: if a value is invalid, or if groups are selected by name: these cannot be filtered.
        """
        states = known_states(self.in_states)
        types = known_words("type", self.of_types, GroupType.SHOWN)
        among = ListFilter(states, types)
        if self.names and (given := next((name for name, values in self._filters.items() if values), None)):
            raise UsageError(
                f"the group {self.names[0]!r} is selected by name and cannot be filtered by {given}; use a glob, "
                "--regex, --topic, or --all-groups"
            )
        if self.exclude is not None:
            selection = selection._replace(excluded=compile_pattern(self.exclude, "--exclude"))
        if not (self.hosts or self.client_ids or self.coordinators):
            return selection._replace(among=among)
        from kgroups.admin.query.member_filter import MemberFilter

        def globs(values: tuple[str, ...], option: str) -> tuple[Glob, ...]:
            if "" in values:
                raise UsageError(f"{option}: the value must not be empty (an unset variable in a script?)")
            return tuple(Glob(value, literal=True) for value in values)

        members = MemberFilter(globs(self.hosts, "--host"), globs(self.client_ids, "--client-id"))
        return selection._replace(
            among=among._replace(coordinators=globs(self.coordinators, "--coordinator")),
            members=members if any(members) else None,
        )


def chosen(names: tuple[str, ...], **options: Any) -> GroupOptions:
    """Return the options of groups to read."""
    return GroupOptions(names, **options)


def chosen_by_option(**options: Any) -> GroupOptions:
    """Return the options of groups to read; no argument is a group."""
    return GroupOptions((), **options)


def changed(names: tuple[str, ...], **options: Any) -> GroupOptions:
    """Return the options of groups to change."""
    return GroupOptions(names, **options, changes=True)


def known_states(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return comma-separated states in the spelling of brokers; ``rebalancing`` is several states.

    :raises UsageError: if one is unknown.
    """
    return states_of(known_words("state", values, (*GroupState.ALL, ANY_REBALANCING)))


def known_words(what: str, values: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return comma-separated words in the spelling of brokers, without duplicates.

    :raises UsageError: if one is not in ``known``.
    """
    found = {text.strip(): canonical_word(text.strip(), known) for value in values for text in value.split(",")}
    for text, word in found.items():
        if word is None:
            raise UsageError(f"--{what}: unknown value {text!r} (valid: {', '.join(known)})")
    return tuple(dict.fromkeys(word for word in found.values() if word))


def _check_topic(topic: str, names: tuple[str, ...]) -> None:
    """Check the name of a topic.

    :raises UsageError: if Kafka does not allow it.
    """
    if re.fullmatch(r"[A-Za-z0-9._-]{1,249}", topic):
        return
    if match := re.fullmatch(r"([A-Za-z0-9._-]+):[0-9,-]*", topic):
        from kgroups.model.shell import shell

        raise UsageError(
            f"--topic: {topic!r} names partitions, but this option selects whole topics; use {match[1]}, or kgroups "
            f"owners {topic}{''.join(f' --group {shell(name)}' for name in names)}"
        )
    patterns = "; patterns are not supported" if re.search(r"[*?\[]", topic) else ""
    raise UsageError(f"--topic: {topic!r} is not a valid topic name{patterns}")


def check_name(name: str, flag: str = "--group") -> None:
    """Check a group name.

    :raises UsageError: if it is empty, or if Kafka's protocol cannot represent it.
    """
    if not name:
        hint = "--regex '' selects the group with the empty name that old brokers allow" if flag == "--group" else None
        raise UsageError(f"{flag}: a group name must not be empty (an unset variable in a script?)", hint=hint)
    check_sendable(name, flag)
