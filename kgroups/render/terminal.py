"""Write a colored table for a terminal.

Long names are folded over several lines, never truncated. If the columns would become too narrow to read, or there are
more than ``MAX_ROWS`` rows (rich takes 1 ms for each), the plain writer is used, without line breaks.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from kgroups.model.groups import GroupState

from .cells import cell_text
from .plain import GAP, write_plain
from .table import Table
from .views import Align, Column

MAX_ROWS = 300
MIN_TEXT_WIDTH = 16
"""Minimum width to which a text column is folded; numbers and headers are not folded."""


def write_terminal(table: Table, stream: TextIO, width: int | None = None) -> None:
    """Write the table. rich uses color only on a terminal, except with TERM=dumb; NO_COLOR also disables bold and dim.

    :param width: default: the width of the terminal; other streams have none, and nothing is folded.
    """
    if len(table.rows) > MAX_ROWS:
        write_plain(table, stream)
        return
    console = console_on(stream, width)
    cells = [[cell_text(column.value(row)) for column in table.columns] for row in table.rows]
    natural = _natural_widths(table, cells)
    unfolded = sum(natural) + len(GAP) * len(natural)
    if width is None and not console.is_terminal:
        console.width = unfolded
    widths = fit(natural, _floors(table.columns, natural), console.width - len(GAP) * (len(natural) - 1))
    if widths is None:
        write_plain(table, stream)
        return
    console.print(_rich_table(table, cells, widths), crop=False)


def console_on(stream: TextIO, width: int | None = None) -> Console:
    """Return a rich console on a stream, without interpreting markup in texts; with NO_COLOR without any style."""
    system: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(file=stream, width=width, color_system=system, highlight=False, markup=False, emoji=False)


def fit(natural: Sequence[int], floors: Sequence[int], available: int) -> list[int] | None:
    """Return column widths within the available width, reducing the widest first; ``None`` if there are none.

    :param floors: minimum widths.
    """

    def capped(cap: int) -> list[int]:
        return [min(width, max(cap, floor)) for width, floor in zip(natural, floors, strict=True)]

    if sum(capped(0)) > available:
        return None
    return capped(bisect_right(range(1, max(natural) + 1), available, key=lambda cap: sum(capped(cap))))


def _natural_widths(table: Table, cells: Sequence[Sequence[str]]) -> list[int]:
    headers = [len(column.header) if table.headers else 1 for column in table.columns]
    return [max([header, *(cell_len(row[at]) for row in cells)]) for at, header in enumerate(headers)]


def _floors(columns: Sequence[Column], natural: Sequence[int]) -> list[int]:
    return [
        width if column.align is Align.RIGHT else min(width, max(len(column.header), MIN_TEXT_WIDTH))
        for column, width in zip(columns, natural, strict=True)
    ]


def _rich_table(table: Table, cells: Sequence[Sequence[str]], widths: Sequence[int]) -> RichTable:
    rich_table = RichTable(
        box=None,
        show_header=table.headers,
        header_style="bold",
        pad_edge=False,
        padding=(0, len(GAP), 0, 0),
    )
    for column, width in zip(table.columns, widths, strict=True):
        rich_table.add_column(Text(column.header), justify=column.align.value, width=width, overflow="fold")
    for row, texts in zip(table.rows, cells, strict=True):
        values = (column.value(row) for column in table.columns)
        styles = (_style(column.key, value) for column, value in zip(table.columns, values, strict=True))
        rich_table.add_row(*(Text(text, style=style) for text, style in zip(texts, styles, strict=True)))
    return rich_table


_STATE_STYLES = {
    GroupState.STABLE: "green",
    GroupState.EMPTY: "dim",
    GroupState.DEAD: "red",
    **dict.fromkeys(GroupState.REBALANCING, "yellow"),
}


def state_style(state: str) -> str:
    """Return the rich style of a group's state."""
    return _STATE_STYLES.get(state, "")


def _style(key: str, value: object) -> str:
    match key, value:
        case "state", str():
            return state_style(value)
        case "lag" | "total_lag", int() if value > 0:
            return "yellow"
        case "note", str():
            return "red"
    return ""
