"""``kgroups describe``."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from .answer import Shape, answer
from .options import Connection, connection_options, exclusive, isolation_option, output_options
from .which_groups import Chosen, group_and_topic_options

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.select_groups import Selection
    from kgroups.model.outcome import Outcome


@click.command("describe")
@group_and_topic_options
@click.option("--offsets", is_flag=True, help="Committed offsets, log ends and lag.  [default view]")
@click.option("--members", is_flag=True, help="Members and what is assigned to them.")
@click.option("--state", is_flag=True, help="Coordinator, assignor, state and number of members.")
@click.option("-v", "--verbose", is_flag=True, help="More columns: epochs, assignments, subscriptions.")
@isolation_option
@output_options
@connection_options
def describe(
    connection: Connection,
    shape: Shape,
    offsets: bool,
    members: bool,
    state: bool,
    isolation: str,
    chosen: Chosen,
    verbose: bool,
) -> int:
    """Describe groups: offsets and lag, members, or state."""
    from kgroups.model.offsets import Isolation
    from kgroups.model.rows import member_rows, offset_rows, state_row
    from kgroups.render.views import MEMBERS, OFFSETS, STATE

    exclusive(offsets=offsets, members=members, state=state)
    selection = chosen.selection()
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
