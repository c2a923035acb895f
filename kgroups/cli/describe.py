"""``kgroups describe``."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError

from .answer import Shape, answer
from .options import Connection, connection_options, exclusive, output_options, words

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.select_groups import Selection
    from kgroups.model.outcome import Outcome

LONGEST_NAME = 32_767
"""Bytes: a length of 16 bits with a sign."""


@click.command("describe")
@click.argument("names", nargs=-1, metavar="[GROUP]...")
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="A group; may be repeated.")
@click.option("--regex", metavar="RE", help="Groups whose whole name matches this regular expression.")
@click.option("--all-groups", is_flag=True, help="All groups of the cluster.")
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Groups with commits or assignments on this topic, and of their offsets only those; may be repeated.",
)
@click.option("--offsets", is_flag=True, help="Committed offsets, log ends and lag.  [default view]")
@click.option("--members", is_flag=True, help="Members and what is assigned to them.")
@click.option("--state", is_flag=True, help="Coordinator, assignor, state and number of members.")
@click.option("-v", "--verbose", is_flag=True, help="More columns: epochs, assignments, subscriptions.")
@click.option(
    "--isolation",
    type=click.Choice(["read_uncommitted", "read_committed"]),
    default="read_uncommitted",
    show_default=True,
    help="With read_committed a log ends at its last stable offset: open transactions are not lag.",
)
@output_options
@connection_options
def describe(
    connection: Connection,
    shape: Shape,
    offsets: bool,
    members: bool,
    state: bool,
    isolation: str,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    regex: str | None,
    all_groups: bool,
    topics: tuple[str, ...],
    verbose: bool,
) -> int:
    """Describe groups: offsets and lag, members, or state."""
    from kgroups.model.offsets import Isolation
    from kgroups.model.rows import member_rows, offset_rows, state_row
    from kgroups.render.views import MEMBERS, OFFSETS, STATE

    exclusive(offsets=offsets, members=members, state=state)
    selection = _selection((*names, *groups), regex, all_groups, words(topics))
    look = shape._replace(verbose=verbose)

    async def ask_offsets(admin: GroupAdmin) -> Outcome[Any]:
        level = Isolation[isolation.upper()]
        outcome = await admin.describe_offsets(selection, isolation=level)
        remarks = _remarks(selection, [item.group for item in outcome.items])
        rows = chain.from_iterable(map(offset_rows, outcome.items))
        return outcome.with_items(rows).with_failures((), remarks)

    async def ask_members(admin: GroupAdmin) -> Outcome[Any]:
        outcome = await admin.describe(selection)
        rows = chain.from_iterable(map(member_rows, outcome.items))
        return outcome.with_items(rows).with_failures((), _remarks(selection, outcome.items))

    async def ask_state(admin: GroupAdmin) -> Outcome[Any]:
        outcome = await admin.describe(selection)
        remarks = [] if outcome.items else _remarks(selection, ())
        return outcome.with_items(map(state_row, outcome.items)).with_failures((), remarks)

    view, ask = (MEMBERS, ask_members) if members else (STATE, ask_state) if state else (OFFSETS, ask_offsets)
    return answer(connection.settings, look, view, ask, debug=connection.debug)


def _selection(names: tuple[str, ...], regex: str | None, everything: bool, topics: tuple[str, ...]) -> Selection:
    """:raises UsageError: when no group is meant, a name is empty, or the expression is none."""
    from kgroups.admin.select_groups import Selection

    if not (names or regex is not None or everything or topics):
        raise UsageError("which groups? Name some (GROUP, --group), or say --regex, --topic or --all-groups")
    for name in names:
        _check_name(name)
    if everything and (names or regex is not None):
        raise UsageError("--all-groups excludes --group and --regex")
    try:
        pattern = re.compile(regex) if regex is not None else None
    except re.error as error:
        raise UsageError(f"--regex: {regex!r} is not a regular expression: {error}") from None
    return Selection(tuple(dict.fromkeys(names)), pattern, everything, frozenset(topics))


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


def _remarks(selection: Selection, groups: Any) -> list[str]:
    """The Java tool's two remarks on a group's state; of groups that were named, not of all there are."""
    from kgroups.model.groups import GroupState

    if not groups and selection.needs_list:
        return ["no group matches"]
    if selection.needs_list:
        return []
    remarks = []
    for group in groups:
        if group.state == GroupState.EMPTY:
            remarks.append(f"group '{group.group_id}' has no active members")
        elif group.state in GroupState.REBALANCING:
            remarks.append(f"group '{group.group_id}' is rebalancing")
    return remarks
