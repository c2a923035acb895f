"""The headers of groups in ``kgroups describe`` on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kgroups.model.groups import Group
from kgroups.model.status import rank_of
from kgroups.model.views.member_rows import state_row
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.model.views.offsets import offset_rows
from kgroups.model.views.summary_row import summary_row
from kgroups.render.summary_view import header_parts

from ..frame.output import Headers


def rows_with_header(headers: Headers) -> Callable[[GroupOffsets], Iterable[OffsetRow]]:
    """Return a function that adds the header of a group, with status and lag, and returns the rows of its offsets."""

    def rows_of(item: GroupOffsets) -> list[Any]:
        headers[item.group.group] = tuple(header_parts(summary_row(item)))
        return offset_rows(item)

    return rows_of


def worst_first(headers: Headers) -> None:
    """Sort headers that begin with a status."""
    ordered = sorted(headers.items(), key=lambda each: (rank_of(each[1][0]), each[0]))
    headers.clear()
    headers.update(ordered)


def add_headers(headers: Headers, groups: Iterable[Group]) -> None:
    """Add the headers of groups without their lag."""
    for group in sorted(groups, key=lambda each: each.group):
        headers[group.group] = tuple(header_parts(state_row(group)))
