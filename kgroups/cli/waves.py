"""``kgroups waves``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from kgroups.admin.client import Client, WireOnly
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.waves import Ignored, gather_waves
from kgroups.errors import UsageError
from kgroups.model.counts import SHOWN
from kgroups.model.group_log import ReadBudget
from kgroups.model.listed import ValueList
from kgroups.model.outcome import Outcome
from kgroups.model.views.wave_rows import Waves, wave_item_rows, wave_link_rows, wave_rows
from kgroups.render.dot import write_dot
from kgroups.render.wave_views import ITEMS, LINKS, WAVES

from .frame.options import ConnectionOptions, check_exclusive
from .frame.output import Shape, print_failures
from .frame.run_query import hinted, query_and_show, run_query
from .frame.selected_groups import GroupOptions

DOT = "dot"
LOG_MIB, LOG_SECONDS = 8, 5.0


def limits(no_transactions: bool, log_mib: int | None, log_time: float | None) -> ReadBudget | None:
    """Return the limits of reading logs, ``None`` to read none.

    :raises UsageError: if there are limits, and none is read.
    """
    if no_transactions and (log_mib, log_time) != (None, None):
        raise UsageError("--log-mib and --log-time cannot be combined with --no-transactions")
    return None if no_transactions else ReadBudget((log_mib or LOG_MIB) << 20, log_time or LOG_SECONDS)


def waves(
    connection: ConnectionOptions,
    shape: Shape,
    chosen: GroupOptions,
    ignored: Ignored,
    transactions: ReadBudget | None,
    listed: bool,
    links: bool,
) -> int:
    """Run ``kgroups waves``; return the exit code."""
    check_exclusive(list=listed, links=links)
    WireOnly.WAVES.check(connection.settings)
    selection = chosen.selection(all_by_default=True)
    query = partial(_query, selection=selection, ignored=ignored, transactions=transactions)
    if shape.output == DOT:
        return _show_dot(connection, query, selection, plain=not (listed or links or shape.columns or shape.sort))
    view = ITEMS if listed else LINKS if links else WAVES
    rows = wave_item_rows if listed else wave_link_rows if links else partial(wave_rows, names=_names(shape))
    return query_and_show(connection, shape, view, partial(_rows, query, rows), selection=selection)


async def _query(
    admin: Client, *, selection: Selection, ignored: Ignored, transactions: ReadBudget | None
) -> Outcome[Waves]:
    return await gather_waves(admin, selection, ignored, transactions)


async def _rows(query: Callable[[Client], Any], rows: Callable[[Waves], Iterable[Any]], admin: Client) -> Outcome[Any]:
    outcome: Outcome[Waves] = await query(admin)
    return outcome.with_items(row for found in outcome.items for row in rows(found))


def _names(shape: Shape) -> Callable[[tuple[str, ...]], ValueList]:
    """Return how names are shown: all of them in data and with ``--wide``, else the first ones."""
    if shape.wide or shape.format in ("json", "jsonl", "csv"):
        return ValueList
    return _first_names


def _first_names(names: tuple[str, ...]) -> ValueList:
    more = len(names) - SHOWN
    return ValueList((*names[:SHOWN], *([f"… and {more:,} more"] if more > 0 else ())))


def _show_dot(
    connection: ConnectionOptions, query: Callable[[Client], Any], selection: Selection, *, plain: bool
) -> int:
    """Write the graph of one cluster.

    :raises UsageError: if there are several, or options of tables.
    """
    if connection.fleet:
        raise UsageError("-o dot requires exactly one cluster")
    if not plain:
        raise UsageError("-o dot cannot be combined with --list, --links, --columns, or --sort")
    outcome, _ = run_query(connection.settings, hinted(query, selection), debug=connection.debug)
    for found in outcome.items:
        write_dot(found, sys.stdout)
    sys.stdout.flush()
    print_failures(outcome)
    return outcome.exit_code
