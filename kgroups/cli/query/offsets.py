"""``kgroups describe``: the offsets of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kgroups.admin.query.select_groups import Selection
from kgroups.model.counts import SHOWN, count, some
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.shell import group_words_in_text
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.model.views.offsets import count_left_out, offset_rows
from kgroups.render.offset_view import OFFSETS
from kgroups.render.table import RowStore

from ..frame.output import Headers, Shape
from ..frame.run_query import Connection, query_and_show
from .stream_rows import take_rows

if TYPE_CHECKING:
    from kgroups.admin.client import Client


def show_offsets(
    connection: Connection,
    shape: Shape,
    selection: Selection,
    level: Isolation,
    headers: Headers | None,
    notices: Callable[[Outcome[Any], Any], list[str]],
) -> int:
    """Show the offsets of groups; return the exit code.

    :param headers: gets the headers of groups, unless it is ``None``.
    """
    rows_of: Callable[[Any], Iterable[Any]] = offset_rows
    left_out: dict[str, int] = {}
    if headers is not None:
        from .group_headers import rows_with_header, worst_first

        rows_of = rows_with_header(headers)

    def rows_and_count(item: GroupOffsets) -> Iterable[Any]:
        if number := count_left_out(item):
            left_out[item.group.group] = number
        return rows_of(item)

    async def query(admin: Client) -> Outcome[Any]:
        store = RowStore(OFFSETS.columns)
        groups: list[Any] = []
        streamed = await take_rows(
            # Only headers need the other partitions: a broker that leads none of the rows must not delay them.
            admin.stream_offsets(selection, isolation=level, whole_topics=headers is not None),
            OffsetRow,
            rows_and_count,
            store.append,
            insert=store.insert,
            seen=lambda group: groups.append(None if selection.needs_list else group._replace(members=())),
        )
        if headers:
            worst_first(headers)
        # A RowStore is iterated like a tuple of rows.
        more = [_left_out(left_out)] if left_out else []
        return streamed.with_failures((), [*notices(streamed, groups), *more])._replace(items=store)  # type: ignore[arg-type]

    return query_and_show(connection, shape, OFFSETS, query, selection=selection, group_headers=headers)


def _left_out(partitions: Mapping[str, int]) -> str:
    """Return how many partitions of each group have no row, as in Kafka's tool, and the command that shows them."""
    names = sorted(partitions)
    words = " ".join(map(group_words_in_text, names[:SHOWN]))
    return (
        f"not shown: {count(sum(partitions.values()), 'partition')} without a committed offset and an owner, "
        f"where records may be unread, of {some(list(map(repr, names)))}; to see them: "
        f"kgroups lag {words} --by partition"
    )
