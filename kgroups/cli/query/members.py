"""``kgroups describe --members`` and ``--state``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from kgroups.admin.query.select_groups import Selection
from kgroups.model.groups import Group
from kgroups.model.outcome import Outcome
from kgroups.model.views.member_rows import MemberRow, StateRow, member_rows, state_row
from kgroups.model.views.refused_rows import refused_rows
from kgroups.render.member_views import MEMBERS, STATE

from ..frame.output import Headers, Shape
from ..frame.run_query import Connection, query_and_show

if TYPE_CHECKING:
    from kgroups.admin.client import Client

Notices = Callable[[Outcome[Any], Any], list[str]]


def show_members(
    connection: Connection, shape: Shape, selection: Selection, headers: Headers | None, notices: Notices
) -> int:
    """Show the members of groups; return the exit code.

    :param headers: gets the headers of groups, unless it is ``None``.
    """

    add: Callable[[Iterable[Group]], object] = tuple
    if headers is not None:
        from .group_headers import add_headers

        add = partial(add_headers, headers)

    async def query(admin: Client) -> Outcome[Any]:
        outcome = await admin.describe(selection)
        add(outcome.items)
        rows = chain.from_iterable(map(member_rows, outcome.items))
        return _with_refused_groups(outcome, rows, MemberRow, notices(outcome, outcome.items))

    return query_and_show(connection, shape, MEMBERS, query, selection=selection, group_headers=headers)


def show_state(connection: Connection, shape: Shape, selection: Selection, notices: Notices) -> int:
    """Show the states of groups; return the exit code."""

    async def query(admin: Client) -> Outcome[Any]:
        outcome = await admin.describe(selection)
        remarks = [] if outcome.items else notices(outcome, ())
        return _with_refused_groups(outcome, map(state_row, outcome.items), StateRow, remarks)

    return query_and_show(connection, shape, STATE, query, selection=selection)


def _with_refused_groups(
    outcome: Outcome[Any], rows: Iterable[Any], row_type: type[Any], notices: list[str]
) -> Outcome[Any]:
    """Add a row for each group that the principal is not authorized to describe."""
    if outcome.failures:
        rows = chain(rows, refused_rows(row_type, outcome.failures))
    return outcome.with_items(rows).with_failures((), notices)
