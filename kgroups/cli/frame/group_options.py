"""Options that select groups."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kgroups.errors import UsageError

from .options import completer, grouped_options, split_values

if TYPE_CHECKING:
    from kgroups.admin.query.pattern import Pattern
    from kgroups.admin.query.select_groups import Selection

F = TypeVar("F", bound=Callable[..., Any])


complete_group = completer("group_names")
complete_topic = completer("topic_names")

_GROUPS = (
    click.argument("names", nargs=-1, metavar="[GROUP]...", shell_complete=complete_group),
    click.option(
        "--group",
        "groups",
        multiple=True,
        metavar="GROUP",
        help="Group to select. Repeatable.",
        shell_complete=complete_group,
    ),
    click.option("--regex", metavar="RE", help="Select groups whose whole name matches this regular expression (RE2)."),
    click.option("--all-groups", is_flag=True, help="Select all groups."),
)
_TOPICS = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Select groups that use this topic, and show only this topic. Repeatable.",
    shell_complete=complete_topic,
)


class GroupOptions(NamedTuple):
    """The group options, before they are checked; ``topics`` is ``None`` if topics do not select groups."""

    positional: tuple[str, ...]
    groups: tuple[str, ...]
    regex: str | None
    all_groups: bool
    topics: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The groups selected by name, without duplicates."""
        return tuple(dict.fromkeys((*self.positional, *self.groups)))

    @property
    def any_given(self) -> bool:
        return bool(self.names or self.regex is not None or self.all_groups or self.topics)

    def selection(self, *, all_by_default: bool = False) -> Selection:
        """Return the selected groups.

        :param all_by_default: whether no option selects all groups.
        :raises UsageError: if no group is selected, a name is invalid, or the regular expression is invalid.
        """
        from kgroups.admin.query.select_groups import Selection

        if not (self.any_given or all_by_default):
            ways = "--regex or --all-groups" if self.topics is None else "--regex, --topic or --all-groups"
            raise UsageError(f"no groups selected; use GROUP, --group, {ways}")
        for name in self.names:
            check_name(name)
        if self.all_groups and (self.names or self.regex is not None):
            given = f"the group {self.names[0]!r}" if self.names else "--regex"
            raise UsageError(f"--all-groups cannot be combined with {given}")
        everything = self.all_groups or not self.any_given
        topics = split_values(self.topics or ())
        for topic in topics:
            _check_topic(topic)
        return Selection(self.names, _pattern_of(self.regex), everything, frozenset(topics))


def group_options(command: F) -> F:
    """Add options that select groups; the command gets ``chosen``, a :class:`GroupOptions`."""
    return grouped_options(command, _GROUPS, "chosen", _chosen)


def group_and_topic_options(command: F) -> F:
    """Add options that select groups, also by topic; the command gets ``chosen``, a :class:`GroupOptions`."""
    return grouped_options(command, (*_GROUPS, _TOPICS), "chosen", _chosen)


def _chosen(names: tuple[str, ...], **options: Any) -> GroupOptions:
    return GroupOptions(names, **options)


def _pattern_of(regex: str | None) -> Pattern | None:
    """Compile the value of ``--regex``.

    :raises UsageError: if it is not a valid regular expression.
    """
    if regex is None:
        return None
    from kgroups.admin.query.pattern import compile_pattern

    return compile_pattern(regex, "--regex")


def _check_topic(topic: str) -> None:
    """Check the name of a topic.

    :raises UsageError: if Kafka does not allow it.
    """
    if re.fullmatch(r"[A-Za-z0-9._-]{1,249}", topic):
        return
    if match := re.fullmatch(r"([A-Za-z0-9._-]+):[0-9,-]*", topic):
        raise UsageError(f"--topic: {topic!r} names partitions, but this option selects whole topics; use {match[1]}")
    patterns = "; patterns are not supported" if re.search(r"[*?\[]", topic) else ""
    raise UsageError(f"--topic: {topic!r} is not a valid topic name{patterns}")


def check_name(name: str, flag: str = "--group") -> None:
    """Check a group name.

    :raises UsageError: if it is empty, or if Kafka's protocol cannot represent it.
    """
    from kgroups.model.names import check_sendable

    if not name:
        raise UsageError(
            f"{flag}: a group name must not be empty (an unset variable in a script?); --regex '' selects the group "
            "with the empty name that old brokers allow"
        )
    check_sendable(name, flag)
