"""``kgroups describe``."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from kgroups.config.settings import Transport
from kgroups.errors import UsageError

from .frame.group_options import GroupOptions, group_and_topic_options
from .frame.options import (
    ConnectionOptions,
    check_exclusive,
    connection_options,
    deep_options,
    isolation_option,
    output_options,
)
from .frame.run_query import Shape, query_and_show

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View


@click.command("describe")
@group_and_topic_options
@click.option("--offsets", is_flag=True, help="Show committed offsets, log end offsets, and lag.  [default view]")
@click.option("--members", is_flag=True, help="Show members and their assignments.")
@click.option("--state", is_flag=True, help="Show coordinator, assignor, state, and number of members.")
@click.option("--topology", is_flag=True, help="Show the subtopologies of streams groups, with topics and tasks.")
@click.option("-v", "--verbose", is_flag=True, help="Show more columns: epochs, assignments, subscriptions.")
@deep_options
@isolation_option
@output_options
@connection_options
def describe(
    connection: ConnectionOptions,
    shape: Shape,
    offsets: bool,
    members: bool,
    state: bool,
    topology: bool,
    isolation: str,
    chosen: GroupOptions,
    verbose: bool,
    deep: tuple[int, float] | None,
) -> int:
    """Describe groups: offsets and lag, members, or state."""
    check_exclusive(offsets=offsets, members=members, state=state, topology=topology)
    selection = chosen.selection()
    shape = shape._replace(verbose=verbose)

    if deep and topology:
        raise UsageError("--deep and --topology are mutually exclusive")
    if deep and connection.settings.transport is Transport.LIBRDKAFKA:
        raise UsageError("--deep is not supported with --transport librdkafka")

    async def query_offsets(admin: GroupAdmin) -> Outcome[Any]:
        from kgroups.model.offsets import Isolation
        from kgroups.model.views.offset_row import OffsetRow
        from kgroups.model.views.offsets import offset_rows

        level = Isolation[isolation.upper()]
        if deep:
            outcome = await admin.describe_offsets(selection, isolation=level)
            notices = _notices(selection, outcome, [item.group for item in outcome.items])
            return await _with_deep_columns(admin, "offsets", outcome, deep, notices)
        from kgroups.render.store import RowStore
        from kgroups.render.views import OFFSETS

        from .frame.stored import take_rows

        store = RowStore(OFFSETS.columns)
        groups: list[Any] = []
        streamed = await take_rows(
            admin.stream_offsets(selection, isolation=level),
            OffsetRow,
            offset_rows,
            store.append,
            insert=store.insert,
            seen=lambda group: groups.append(None if selection.needs_list else group._replace(members=())),
        )
        # A RowStore is iterated like a tuple of rows.
        return streamed.with_failures((), _notices(selection, streamed, groups))._replace(items=store)  # type: ignore[arg-type]

    async def query_members(admin: GroupAdmin) -> Outcome[Any]:
        from kgroups.model.views.member_rows import MemberRow, member_rows

        outcome = await admin.describe(selection)
        if deep:
            return await _with_deep_columns(
                admin, "members", outcome, deep, _notices(selection, outcome, outcome.items)
            )
        rows = chain.from_iterable(map(member_rows, outcome.items))
        return _with_refused_groups(outcome, rows, MemberRow, _notices(selection, outcome, outcome.items))

    async def query_state(admin: GroupAdmin) -> Outcome[Any]:
        from kgroups.model.views.member_rows import StateRow, state_row

        outcome = await admin.describe(selection)
        notices = [] if outcome.items else _notices(selection, outcome, ())
        if deep:
            return await _with_deep_columns(admin, "state", outcome, deep, notices)
        return _with_refused_groups(outcome, map(state_row, outcome.items), StateRow, notices)

    if topology:
        return _topology(connection, shape, selection)
    name, query = (
        ("members", query_members) if members else ("state", query_state) if state else ("offsets", query_offsets)
    )
    return query_and_show(connection.settings, shape, _view(name, deep=bool(deep)), query, debug=connection.debug)


def _view(name: str, *, deep: bool) -> View:
    if deep:
        from .frame.deep_columns import deep_view

        return deep_view(name)
    if name == "offsets":
        from kgroups.render.views import OFFSETS

        return OFFSETS
    from kgroups.render.member_views import MEMBERS, STATE

    return MEMBERS if name == MEMBERS.name else STATE


async def _with_deep_columns(
    admin: GroupAdmin, view: str, outcome: Outcome[Any], bounds: tuple[int, float], notices: list[str]
) -> Outcome[Any]:
    from .frame.deep_columns import with_deep_columns

    return (await with_deep_columns(admin, view, outcome, *bounds)).with_failures((), notices)


def _with_refused_groups(
    outcome: Outcome[Any], rows: Iterable[Any], row_type: type[Any], notices: list[str]
) -> Outcome[Any]:
    """Add a row for each group that the principal is not authorized to describe."""
    if outcome.failures:
        from kgroups.model.views.refused_rows import refused_rows

        rows = chain(rows, refused_rows(row_type, outcome.failures))
    return outcome.with_items(rows).with_failures((), notices)


def _topology(connection: ConnectionOptions, shape: Shape, selection: Selection) -> int:
    from kgroups.model.views.topology_rows import nodes_remark, topology_remark, topology_rows
    from kgroups.render.topology_views import TOPOLOGY

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        described = await admin.describe(selection)
        outcome = (await admin.describe_nodes(described.items)).after(described)
        named = [] if selection.needs_list else outcome.items
        notices = [notice for group in named if (notice := topology_remark(group) or nodes_remark(group))]
        rows = chain.from_iterable(map(topology_rows, outcome.items))
        return outcome.with_items(rows).with_failures((), notices)

    return query_and_show(connection.settings, shape, TOPOLOGY, query, debug=connection.debug)


def _notices(selection: Selection, outcome: Outcome[Any], groups: Any) -> list[str]:
    """Return the Java tool's two notices about states, only for groups that were selected by name."""
    from kgroups.model.groups import GroupState

    if not groups and selection.needs_list:
        return [] if outcome.failures else ["no group matches"]
    if selection.needs_list:
        return []
    notices = []
    for group in groups:
        if group.state == GroupState.EMPTY:
            notices.append(f"group '{group.group_id}' has no active members")
        elif group.state in GroupState.REBALANCING:
            notices.append(f"group '{group.group_id}' is rebalancing")
    return notices
