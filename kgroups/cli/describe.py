"""``kgroups describe``."""

from __future__ import annotations

from functools import partial
from typing import Any

from kgroups.admin.query.select_groups import Selection
from kgroups.config.settings import Transport
from kgroups.errors import UsageError
from kgroups.model.groups import GroupState
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import NO_MATCH, Outcome

from .frame.options import ConnectionOptions, check_exclusive
from .frame.output import Headers, Shape
from .frame.selected_groups import GroupOptions


def describe(
    connection: ConnectionOptions,
    shape: Shape,
    offsets: bool,
    members: bool,
    state: bool,
    topology: bool,
    summary: bool,
    all_views: bool,
    isolation: str,
    chosen: GroupOptions,
    verbose: bool,
    deep: tuple[int, float] | None,
) -> int:
    """Run ``kgroups describe``; return the exit code."""
    check_exclusive(
        offsets=offsets, members=members, state=state, topology=topology, summary=summary, all_views=all_views
    )
    selection, level = chosen.selection(), Isolation[isolation.upper()]
    shape = shape._replace(verbose=verbose)
    notices = partial(_notices, selection)

    if deep:
        _check_deep(connection, topology=topology, summary=summary, all_views=all_views)
    if topology:
        from .query.topology import show_topology

        return show_topology(connection, shape, selection)
    if summary or all_views:
        from .query.summaries import show_all_views, show_summary

        show = show_summary if summary else show_all_views
        return show(connection, shape, selection, level, notices)
    if deep:
        from .query.deep_columns import show_deep

        view = "members" if members else "state" if state else "offsets"
        return show_deep(connection, shape, view, selection, level, deep, notices)
    headers: Headers | None = {} if not state and not connection.fleet and shape.has_group_headers else None
    if members or state:
        from .query.members import show_members, show_state

        if state:
            return show_state(connection, shape, selection, notices)
        return show_members(connection, shape, selection, headers, notices)
    from .query.offsets import show_offsets

    return show_offsets(connection, shape, selection, level, headers, notices)


def _check_deep(connection: ConnectionOptions, **others: bool) -> None:
    """Check that ``--deep`` applies to the view and the transport.

    :raises UsageError: if it does not.
    """
    for name, given in others.items():
        if given:
            raise UsageError(f"--deep and --{name.replace('_', '-')} are mutually exclusive")
    if connection.settings.transport is Transport.LIBRDKAFKA:
        raise UsageError("--deep is not supported with --transport librdkafka")


def _notices(selection: Selection, outcome: Outcome[Any], groups: Any) -> list[str]:
    """Return the Java tool's two notices about states, only for groups that were selected by name."""
    if not groups:
        return [] if outcome.failures else [NO_MATCH]
    if selection.needs_list:
        return []
    notices = []
    for group in groups:
        if group.state == GroupState.EMPTY:
            notices.append(f"group '{group.group}' has no active members")
        elif group.state in GroupState.REBALANCING:
            notices.append(f"group '{group.group}' is rebalancing")
    return notices
