"""Options that say which groups a command is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kgroups.errors import UsageError

from .options import collected, words

if TYPE_CHECKING:
    from kgroups.admin.select_groups import Selection

F = TypeVar("F", bound=Callable[..., Any])

LONGEST_NAME = 32_767
"""Bytes: a length of 16 bits with a sign."""

_GROUPS = (
    click.argument("names", nargs=-1, metavar="[GROUP]..."),
    click.option("--group", "groups", multiple=True, metavar="GROUP", help="A group; may be repeated."),
    click.option("--regex", metavar="RE", help="Groups whose whole name matches this regular expression."),
    click.option("--all-groups", is_flag=True, help="All groups of the cluster."),
    click.option(
        "--topic",
        "topics",
        multiple=True,
        metavar="TOPIC",
        help="Groups with commits or assignments on this topic, and of their offsets only those; may be repeated.",
    ),
)


class Chosen(NamedTuple):
    """What the options say, before any of it is checked."""

    names: tuple[str, ...]
    groups: tuple[str, ...]
    regex: str | None
    all_groups: bool
    topics: tuple[str, ...]

    def selection(self, *, all_by_default: bool = False) -> Selection:
        """The groups that are meant.

        :raises UsageError: when none is, and that does not mean all; a name is empty, or the expression is none.
        """
        from kgroups.admin.select_groups import Selection

        names, topics = (*self.names, *self.groups), words(self.topics)
        everything = self.all_groups
        if not (names or self.regex is not None or everything or topics):
            if not all_by_default:
                raise UsageError("which groups? Name some (GROUP, --group), or say --regex, --topic or --all-groups")
            everything = True
        for name in names:
            _check_name(name)
        if everything and (names or self.regex is not None):
            raise UsageError("--all-groups excludes --group and --regex")
        try:
            pattern = re.compile(self.regex) if self.regex is not None else None
        except re.error as error:
            raise UsageError(f"--regex: {self.regex!r} is not a regular expression: {error}") from None
        return Selection(tuple(dict.fromkeys(names)), pattern, everything, frozenset(topics))


def group_options(command: F) -> F:
    """Which groups. The command gets ``chosen``, a :class:`Chosen`."""
    return collected(command, _GROUPS, "chosen", Chosen)


def _check_name(name: str) -> None:
    """:raises UsageError: when Kafka's protocol cannot carry the name."""
    if not name:
        raise UsageError("--group: a group's name cannot be empty")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise UsageError(f"--group: {name!r} is not UTF-8") from None
    if size > LONGEST_NAME:
        raise UsageError(f"--group: a name of {size:,} bytes; Kafka's protocol takes {LONGEST_NAME:,}")
