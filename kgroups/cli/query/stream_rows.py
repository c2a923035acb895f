"""Convert batches of groups to rows as they arrive, so that only a few thousand groups are in memory at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from heapq import merge
from itertools import chain
from operator import itemgetter
from typing import Any

from kgroups.model.groups import Group
from kgroups.model.outcome import Failure, Outcome
from kgroups.model.permissions import Acl
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.model.views.refused_rows import refused_rows

_group = itemgetter(0)


async def take_rows(
    batches: AsyncGenerator[Outcome[GroupOffsets]],
    row_type: type[Any],
    rows_of: Callable[[GroupOffsets], Iterable[Any]],
    take: Callable[[Iterable[Any]], None],
    *,
    insert: Callable[[Iterable[Any]], None],
    seen: Callable[[Group], None],
    refused_alone: bool = False,
) -> Outcome[Any]:
    """Pass the rows of each batch to ``take``, sorted by group, with a row for each unauthorized group.

    :param row_type: the class of the rows.
    :param insert: called with rows whose places are between the rows passed before.
    :param seen: called with each described group.
    :param refused_alone: add no row without authorization for a group that has other rows.
    :return: all failures and notices, without items.
    """
    failures: list[Failure] = []
    notices: dict[str, None] = {}
    hidden: dict[Acl, None] = {}
    late: list[Any] = []
    async with aclosing(batches):
        async for batch in batches:
            rows: Iterable[Any] = chain.from_iterable(map(rows_of, batch.items))
            if batch.failures:
                refused = _refused(row_type, batch, refused_alone)
                rows, late = (merge(rows, refused, key=_group), late) if batch.items else (rows, [*late, *refused])
            take(rows)
            for item in batch.items:
                seen(item.group)
            failures += batch.failures
            notices.update(dict.fromkeys(batch.notices))
            hidden.update(dict.fromkeys(batch.hidden_by))
    if late:
        insert(late)
    return Outcome((), tuple(failures), tuple(notices), tuple(hidden))


async def collect_rows(
    batches: AsyncGenerator[Outcome[GroupOffsets]],
    row_type: type[Any],
    rows_of: Callable[[GroupOffsets], Iterable[Any]],
) -> Outcome[Any]:
    """Return all rows, plus one for each unauthorized group without rows."""
    rows: list[Any] = []
    streamed = await take_rows(
        batches,
        row_type,
        rows_of,
        rows.extend,
        insert=rows.extend,
        seen=lambda group: None,
        refused_alone=True,
    )
    return streamed.with_items(rows)


def _refused(row_type: type[Any], batch: Outcome[GroupOffsets], alone: bool) -> list[Any]:
    described = {item.group.group for item in batch.items} if alone else ()
    return refused_rows(row_type, (failure for failure in batch.failures if failure.name not in described))
