"""Options that select groups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kgroups.errors import UsageError
from kgroups.model.groups import is_glob

from .command import Decorator, OptionGroup
from .options import completer, split_values

if TYPE_CHECKING:
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.admin.query.pattern import Pattern
    from kgroups.admin.query.select_groups import Selection

complete_group = completer("group_names")
complete_topic = completer("topic_names")

_GROUPS = (
    click.argument("names", nargs=-1, metavar="[GROUP]...", shell_complete=complete_group),
    click.option(
        "--group",
        "groups",
        multiple=True,
        metavar="GROUP",
        help="Group to select by its exact name: *, ?, and [ are not wildcards. Repeatable.",
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
_USED_TOPICS = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Only groups that use this topic: with committed offsets or assignments. Repeatable.",
    shell_complete=complete_topic,
)


_SAVED_TOPICS = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Select groups that use this topic, and save only their offsets on it. Repeatable.",
    shell_complete=complete_topic,
)


class GroupOptions(NamedTuple):
    """The group options, before they are checked; ``topics`` is ``None`` if topics do not select groups."""

    positional: tuple[str, ...]
    groups: tuple[str, ...]
    regex: str | None
    all_groups: bool
    topics: tuple[str, ...] | None = None
    in_states: tuple[str, ...] = ()
    of_types: tuple[str, ...] = ()
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
        restricted = self.topics or self.in_states or self.of_types
        return self._any_selected or bool(restricted and not self.changes)

    @property
    def is_everything(self) -> bool:
        """Whether all groups are selected, without a restriction."""
        return self.all_groups and not (self.topics or self.in_states or self.of_types)

    @property
    def _any_selected(self) -> bool:
        return bool(self.positional or self.groups or self.regex is not None or self.all_groups)

    def selection(self, *, all_by_default: bool = False) -> Selection:
        """Return the selected groups.

        :param all_by_default: whether no option selects all groups.
        :raises UsageError: if no group is selected, a name is invalid, or the regular expression is invalid.
        """
        from kgroups.admin.query.select_groups import Selection

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
            _check_topic(topic)
        selection = Selection(self.names, _pattern_of(self.regex), everything, frozenset(topics))
        if self.globs:
            from kgroups.admin.query.pattern import Glob

            selection = selection._replace(globs=tuple(map(Glob, self.globs)))
        return selection._replace(among=self._among()) if self.in_states or self.of_types else selection

    def _among(self) -> ListFilter:
        """Return the states and types of the selected groups.

        :raises UsageError: if one is unknown, or if groups are selected by name: these cannot be filtered.
        """
        from kgroups.admin.query.list_groups import ListFilter
        from kgroups.model.groups import GroupState, GroupType

        states = known_words("state", self.in_states, GroupState.ALL)
        types = known_words("type", self.of_types, GroupType.ALL)
        if self.names and (states or types):
            raise UsageError(
                f"the group {self.names[0]!r} is selected by name and cannot be filtered by "
                f"{'state' if states else 'type'}; use a glob, --regex, --topic, or --all-groups"
            )
        return ListFilter(states, types)


def filter_options(state: str = "--state", type: str = "--type") -> tuple[Decorator, ...]:
    """Return the options that filter groups by state and by type."""
    return (
        click.option(
            state,
            "in_states",
            multiple=True,
            metavar="STATES",
            help="Only groups in these states (comma-separated, any case).",
            shell_complete=completer("states"),
        ),
        click.option(
            type,
            "of_types",
            multiple=True,
            metavar="TYPES",
            help="Only groups of these types: classic, consumer, share, streams.",
            shell_complete=completer("types"),
        ),
    )


def _chosen(names: tuple[str, ...], **options: Any) -> GroupOptions:
    return GroupOptions(names, **options)


def _changed(names: tuple[str, ...], **options: Any) -> GroupOptions:
    return GroupOptions(names, **options, changes=True)


def mixed_group_options(metavar: str) -> OptionGroup:
    """Return the options of :data:`group_options` for a command whose arguments are not only groups."""
    names = click.argument("names", nargs=-1, metavar=metavar, shell_complete=complete_group)
    return OptionGroup("chosen", (names, *_GROUPS[1:], *filter_options()), _changed)


group_options = OptionGroup("chosen", (*_GROUPS, *filter_options()), _changed)
"""Options that select groups to change; ``chosen`` is a :class:`GroupOptions`, as in the other ones."""

changed_group_and_topic_options = OptionGroup("chosen", (*_GROUPS, _USED_TOPICS, *filter_options()), _changed)
"""Options that select groups to change, also by topic."""

group_and_topic_options = OptionGroup("chosen", (*_GROUPS, _TOPICS, *filter_options()), _chosen)
"""Options that select groups, also by topic."""

described_group_options = OptionGroup("chosen", (*_GROUPS, _TOPICS, *filter_options("--in-state")), _chosen)
"""Those of :data:`group_and_topic_options`, where ``--state`` has another meaning."""

checked_group_options = OptionGroup("chosen", (*_GROUPS, _TOPICS, *filter_options("--in-state", "--of-type")), _chosen)
"""Those of :data:`group_and_topic_options`, where ``--state`` and ``--type`` have another meaning."""

group_and_used_topic_options = OptionGroup("chosen", (*_GROUPS, _USED_TOPICS, *filter_options()), _chosen)
"""Options that select groups, also by a topic that they use."""

saved_group_options = OptionGroup("chosen", (*_GROUPS, _SAVED_TOPICS, *filter_options()), _chosen)
"""Options that select groups to save."""

plain_group_options = OptionGroup("chosen", _GROUPS, _changed)
"""Options that select groups by name or pattern only."""

listed_group_options = OptionGroup("chosen", (*_GROUPS, _USED_TOPICS), _chosen)
"""Options that select groups, but no filters by state and type."""


def known_words(what: str, values: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return comma-separated words in the spelling of brokers, without duplicates.

    :raises UsageError: if one is not in ``known``.
    """
    from kgroups.model.groups import canonical_word

    found = {text.strip(): canonical_word(text.strip(), known) for value in values for text in value.split(",")}
    for text, word in found.items():
        if word is None:
            raise UsageError(f"--{what}: unknown value {text!r} (valid: {', '.join(known)})")
    return tuple(dict.fromkeys(word for word in found.values() if word))


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
