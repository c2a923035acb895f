"""Which groups a command is about: names, an expression, all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgroups.errors import UsageError

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
)


def group_options(command: F) -> F:
    """The command gets ``names``, ``groups``, ``regex`` and ``all_groups``, for :func:`choose`."""
    for option in reversed(_GROUPS):
        command = option(command)
    return command


def choose(
    names: Iterable[str],
    regex: str | None,
    everything: bool,
    topics: Iterable[str] = (),
    *,
    ways: str = "--regex or --all-groups",
) -> Selection:
    """:raises UsageError: when no group is meant, a name is empty, or the expression is none."""
    from kgroups.admin.select_groups import Selection

    named, topics = tuple(dict.fromkeys(names)), frozenset(topics)
    if not (named or regex is not None or everything or topics):
        raise UsageError(f"which groups? Name some (GROUP, --group), or say {ways}")
    for name in named:
        check_name(name)
    if everything and (named or regex is not None):
        raise UsageError("--all-groups excludes --group and --regex")
    return Selection(named, pattern_of(regex), everything, topics)


def pattern_of(regex: str | None) -> re.Pattern[str] | None:
    """:raises UsageError: when it is no regular expression."""
    try:
        return re.compile(regex) if regex is not None else None
    except re.error as error:
        raise UsageError(f"--regex: {regex!r} is not a regular expression: {error}") from None


def check_name(name: str, flag: str = "--group") -> None:
    """:raises UsageError: when Kafka's protocol cannot carry the name."""
    if not name:
        raise UsageError(f"{flag}: a group's name cannot be empty")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise UsageError(f"{flag}: {name!r} is not UTF-8") from None
    if size > LONGEST_NAME:
        raise UsageError(f"{flag}: a name of {size:,} bytes; Kafka's protocol takes {LONGEST_NAME:,}")
