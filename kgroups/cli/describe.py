"""``kgroups describe``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from kgroups.config.settings import Transport
from kgroups.errors import UsageError
from kgroups.model.outcome import NO_MATCH

from .frame.group_options import GroupOptions
from .frame.options import (
    ConnectionOptions,
    check_exclusive,
)
from .frame.run_query import Shape, query_and_show

if TYPE_CHECKING:
    from kgroups.admin.client import Client
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View


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
    selection = chosen.selection()
    shape = shape._replace(verbose=verbose)

    if deep:
        _check_deep(connection, topology=topology, summary=summary, all_views=all_views)
    if topology:
        return _topology(connection, shape, selection)
    if summary or all_views:
        return _summaries(connection, shape, selection, isolation, summary=summary)
    with_headers = not state and deep is None and not connection.fleet and shape.has_group_headers
    queries = _Queries(selection, isolation, deep, {} if with_headers else None)
    name, query = (
        ("members", queries.members) if members else ("state", queries.state) if state else ("offsets", queries.offsets)
    )
    return query_and_show(
        connection,
        shape,
        _view(name, deep=bool(deep)),
        query,
        selection=selection,
        group_headers=queries.headers,
    )


def _check_deep(connection: ConnectionOptions, **others: bool) -> None:
    """Check that ``--deep`` applies to the view and the transport.

    :raises UsageError: if it does not.
    """
    for name, given in others.items():
        if given:
            raise UsageError(f"--deep and --{name.replace('_', '-')} are mutually exclusive")
    if connection.settings.transport is Transport.LIBRDKAFKA:
        raise UsageError("--deep is not supported with --transport librdkafka")


class _Queries(NamedTuple):
    """The queries of the views; ``headers`` gets those of groups, unless it is ``None``."""

    selection: Selection
    isolation: str
    deep: tuple[int, float] | None
    headers: dict[str, Sequence[str]] | None

    async def offsets(self, admin: Client) -> Outcome[Any]:
        from kgroups.model.offsets import Isolation
        from kgroups.model.views.offset_row import OffsetRow
        from kgroups.model.views.offsets import offset_rows

        selection, level = self.selection, Isolation[self.isolation.upper()]
        if self.deep:
            outcome = await admin.describe_offsets(selection, isolation=level)
            notices = _notices(selection, outcome, [item.group for item in outcome.items])
            return await _with_deep_columns(admin, "offsets", outcome, self.deep, notices)
        from kgroups.render.offset_view import OFFSETS
        from kgroups.render.table import RowStore

        from .query.stream_rows import take_rows

        store = RowStore(OFFSETS.columns)
        groups: list[Any] = []
        rows_of: Callable[[Any], Iterable[Any]] = offset_rows
        if self.headers is not None:
            from .query.group_headers import rows_with_header

            rows_of = rows_with_header(self.headers)
        streamed = await take_rows(
            admin.stream_offsets(selection, isolation=level, whole_topics=self.headers is not None),
            OffsetRow,
            rows_of,
            store.append,
            insert=store.insert,
            seen=lambda group: groups.append(None if selection.needs_list else group._replace(members=())),
        )
        # A RowStore is iterated like a tuple of rows.
        return streamed.with_failures((), _notices(selection, streamed, groups))._replace(items=store)  # type: ignore[arg-type]

    async def members(self, admin: Client) -> Outcome[Any]:
        from kgroups.model.views.member_rows import MemberRow, member_rows

        outcome = await admin.describe(self.selection)
        notices = _notices(self.selection, outcome, outcome.items)
        if self.deep:
            return await _with_deep_columns(admin, "members", outcome, self.deep, notices)
        if self.headers is not None:
            from .query.group_headers import add_headers

            add_headers(self.headers, outcome.items)
        rows = chain.from_iterable(map(member_rows, outcome.items))
        return _with_refused_groups(outcome, rows, MemberRow, notices)

    async def state(self, admin: Client) -> Outcome[Any]:
        from kgroups.model.views.member_rows import StateRow, state_row

        outcome = await admin.describe(self.selection)
        notices = [] if outcome.items else _notices(self.selection, outcome, ())
        if self.deep:
            return await _with_deep_columns(admin, "state", outcome, self.deep, notices)
        return _with_refused_groups(outcome, map(state_row, outcome.items), StateRow, notices)


def _summaries(
    connection: ConnectionOptions, shape: Shape, selection: Selection, isolation: str, *, summary: bool
) -> int:
    from kgroups.model.offsets import Isolation

    from .query.summaries import show_all_views, show_summary

    def notices(outcome: Outcome[Any], groups: Any) -> list[str]:
        return _notices(selection, outcome, groups)

    show = show_summary if summary else show_all_views
    return show(connection, shape, selection, Isolation[isolation.upper()], notices)


def _view(name: str, *, deep: bool) -> View:
    if deep:
        from kgroups.render.deep_views import DEEP_VIEWS

        return DEEP_VIEWS[name]
    if name == "offsets":
        from kgroups.render.offset_view import OFFSETS

        return OFFSETS
    from kgroups.render.member_views import MEMBERS, STATE

    return MEMBERS if name == MEMBERS.name else STATE


async def _with_deep_columns(
    admin: Client, view: str, outcome: Outcome[Any], bounds: tuple[int, float], notices: list[str]
) -> Outcome[Any]:
    from .query.deep_columns import with_deep_columns

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
    from kgroups.admin.query.topology_nodes import describe_nodes
    from kgroups.model.views.topology_rows import nodes_remark, topology_remark, topology_rows
    from kgroups.render.topology_views import TOPOLOGY

    async def query(admin: Client) -> Outcome[Any]:
        described = await admin.describe(selection)
        outcome = (
            (await describe_nodes(admin.cluster, described.items)).after(described) if admin.cluster else described
        )
        named = [] if selection.needs_list else outcome.items
        notices = [notice for group in named if (notice := topology_remark(group) or nodes_remark(group))]
        if not (outcome.items or outcome.failures):
            notices.append(NO_MATCH)
        rows = chain.from_iterable(map(topology_rows, outcome.items))
        return outcome.with_items(rows).with_failures((), notices)

    return query_and_show(connection, shape, TOPOLOGY, query, selection=selection)


def _notices(selection: Selection, outcome: Outcome[Any], groups: Any) -> list[str]:
    """Return the Java tool's two notices about states, only for groups that were selected by name."""
    from kgroups.model.groups import GroupState

    if not groups:
        return [] if outcome.failures else [NO_MATCH]
    if selection.needs_list:
        return []
    notices = []
    for group in groups:
        if group.state == GroupState.EMPTY:
            notices.append(f"group '{group.group_id}' has no active members")
        elif group.state in GroupState.REBALANCING:
            notices.append(f"group '{group.group_id}' is rebalancing")
    return notices
