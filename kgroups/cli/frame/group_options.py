"""Options that select groups."""

from __future__ import annotations

import click

from .command import Decorator, OptionGroup
from .options import completer

_CHOSEN, _CHANGED = "kgroups.cli.frame.selected_groups:chosen", "kgroups.cli.frame.selected_groups:changed"

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

_JOINED_TOPICS = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Only waves with this topic. Repeatable.",
    shell_complete=complete_topic,
)


_WHERE = (
    click.option("--exclude", metavar="RE", help="Leave out groups whose whole name matches this regular expression."),
    click.option(
        "--host",
        "hosts",
        multiple=True,
        metavar="HOST",
        help="Only groups with a member on this host: an address or a glob, such as '10.0.4.*'. Repeatable.",
    ),
    click.option(
        "--client-id",
        "client_ids",
        multiple=True,
        metavar="ID",
        help="Only groups with a member of this client ID, or of a glob; with --host, one member has both. Repeatable.",
    ),
    click.option(
        "--coordinator",
        "coordinators",
        multiple=True,
        metavar="BROKER",
        help="Only groups that this broker coordinates: its ID, HOST, HOST:PORT, or a glob. Repeatable.",
        shell_complete=completer("broker_ids"),
    ),
)
"""Filters for commands that only read: a change needs the names of what is changed, and members move."""


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


def mixed_group_options(metavar: str) -> OptionGroup:
    """Return the options of :data:`group_options` for a command whose arguments are not only groups."""
    names = click.argument("names", nargs=-1, metavar=metavar, shell_complete=complete_group)
    return OptionGroup("chosen", (names, *_GROUPS[1:], *filter_options()), _CHANGED)


group_options = OptionGroup("chosen", (*_GROUPS, *filter_options()), _CHANGED)
"""Options that select groups to change; ``chosen`` is a :class:`.selected_groups.GroupOptions`, as in the others."""

changed_group_and_topic_options = OptionGroup("chosen", (*_GROUPS, _USED_TOPICS, *filter_options()), _CHANGED)
"""Options that select groups to change, also by topic."""

group_and_topic_options = OptionGroup("chosen", (*_GROUPS, _TOPICS, *filter_options(), *_WHERE), _CHOSEN)
"""Options that select groups, also by topic."""

described_group_options = OptionGroup("chosen", (*_GROUPS, _TOPICS, *filter_options("--in-state"), *_WHERE), _CHOSEN)
"""Those of :data:`group_and_topic_options`, where ``--state`` has another meaning."""

checked_group_options = OptionGroup(
    "chosen", (*_GROUPS, _TOPICS, *filter_options("--in-state", "--of-type"), *_WHERE), _CHOSEN
)
"""Those of :data:`group_and_topic_options`, where ``--state`` and ``--type`` have another meaning."""

group_and_used_topic_options = OptionGroup("chosen", (*_GROUPS, _USED_TOPICS, *filter_options(), *_WHERE), _CHOSEN)
"""Options that select groups, also by a topic that they use."""

saved_group_options = OptionGroup("chosen", (*_GROUPS, _SAVED_TOPICS, *filter_options(), *_WHERE), _CHOSEN)
"""Options that select groups to save."""

wave_options = OptionGroup("chosen", (*_GROUPS, _JOINED_TOPICS, *filter_options(), *_WHERE), _CHOSEN)
"""Options that select waves by their groups and topics."""

owner_options = OptionGroup("chosen", (*_GROUPS[1:], *filter_options(), *_WHERE), f"{_CHOSEN}_by_option")
"""Options that select groups, for a command whose arguments are topics."""

plain_group_options = OptionGroup("chosen", _GROUPS, _CHANGED)
"""Options that select groups by name or pattern only."""

listed_group_options = OptionGroup("chosen", (*_GROUPS, _USED_TOPICS, *_WHERE), _CHOSEN)
"""Options that select groups, but no filters by state and type."""
