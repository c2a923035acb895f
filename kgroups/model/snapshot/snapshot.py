"""The saved state of groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from kgroups.errors import Reason, UsageError

from ..counts import count
from ..groups import GroupId, GroupType
from ..offsets import Commit, Logs
from ..operations.origin import Origin, Source
from ..outcome import NOT_FOUND, Failure, Outcome, Scope
from ..settings.setting import GroupSettings
from ..time_lag import FirstUnread, Position
from ..views.offset_row import GroupOffsets

Configs = Mapping[str, str | None]
"""Dynamic configuration of a group: name -> value."""


class Extent(NamedTuple):
    """The selection of a snapshot: which groups and topics it would contain if they existed.

    ``patterns``: globs, and ``regex:`` with a regular expression. ``filtered``: by state or type, so that an absent
    group may exist. ``topics``: if not empty, the snapshot contains only offsets on these topics.
    """

    everything: bool = False
    names: tuple[GroupId, ...] = ()
    patterns: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    filtered: bool = False

    def covers(self, name: GroupId, other: Extent) -> bool:
        """Return whether a group that the snapshot does not contain did not exist.

        :param other: the selection of a snapshot that contains the group.
        """
        if name in self.names:
            return True
        if self.filtered or self.topics:
            return False
        if self.everything:
            return True
        by_pattern = bool(other.patterns) and name not in other.names and not other.everything
        return by_pattern and set(self.patterns) >= set(other.patterns)


class Snapshot(NamedTuple):
    """The state of groups when they were read.

    ``configs`` contains the groups whose dynamic configuration was read, ``records`` the first record at or after each
    committed offset, if they were requested. ``failures``: what could not be read. ``missing_topics``: topics with
    committed offsets or assignments that did not exist.
    """

    source: Source
    extent: Extent
    groups: tuple[GroupOffsets, ...] = ()
    logs: Logs = Logs()
    configs: Mapping[GroupId, Configs] = MappingProxyType({})
    records: Mapping[Position, FirstUnread] = MappingProxyType({})
    failures: tuple[Failure, ...] = ()
    missing_topics: frozenset[str] = frozenset()

    @property
    def partial(self) -> tuple[Failure, ...]:
        """The failures, except for named groups that did not exist: that answer is complete."""
        return tuple(each for each in self.failures if not (each.scope is Scope.GROUP and each.error == NOT_FOUND))

    @property
    def names(self) -> tuple[GroupId, ...]:
        """The groups in the snapshot, and the groups that could not be read, sorted."""
        failed = {each.name for each in self.partial if each.scope is Scope.GROUP}
        return tuple(sorted({each.group.group for each in self.groups} | failed))

    def check_names(self, names: Iterable[GroupId], file: str) -> None:
        """Check that the snapshot has these groups.

        :raises UsageError: if it lacks one.
        """
        known = frozenset(self.names)
        for name in names:
            if name not in known:
                raise UsageError(f"{file}: there is no group {name!r} in this snapshot")

    def count_offsets(self) -> int:
        """Return the number of committed offsets, and of start offsets of share groups."""
        return sum(len(commits) for each in self.groups for commits in each.commits.topics.values())


def commits_of(offsets: GroupOffsets) -> dict[tuple[str, int], Commit]:
    """Return the commits of a group by topic and partition."""
    topics = offsets.commits.topics.items()
    return {(topic, commit.partition): commit for topic, commits in topics for commit in commits}


def has_configs(group_type: str | None) -> bool:
    """Return whether the configuration of groups of a type is read: brokers ignore it for classic groups."""
    return group_type not in (None, GroupType.CLASSIC)


class SavedSettings(NamedTuple):
    """The values that were set for groups; ``exact``: these groups should have no others of their own."""

    origin: Origin
    configs: Mapping[GroupId, Configs]
    exact: bool = False

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        name = found.group
        saved = self.configs.get(name, {})
        wanted: dict[str, str | None] = {key: value for key, value in saved.items() if value is not None}
        unknown = [
            Failure(
                Scope.GROUP,
                name,
                f"{key} is not restored: {self.origin.name} does not contain its value",
                reason=Reason.NOT_SAVED,
            )
            for key in sorted(saved.keys() - wanted.keys())
        ]
        others = found.overrides.keys() - saved.keys()
        if self.exact:
            wanted |= dict.fromkeys(others)
        kept = f"group '{name}': {count(len(others), 'setting')} not in {self.origin.name}: not changed; to remove "
        notices = (f"{kept}{'it' if len(others) == 1 else 'them'}, add --exact",) if others and not self.exact else ()
        return Outcome(tuple(wanted.items()), tuple(unknown), notices)
