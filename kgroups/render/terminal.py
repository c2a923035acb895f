"""Write a colored table for a terminal.

In views with ``drops``, columns are omitted in that order until the others fit, and only prose is wrapped, between
words. In other views, long names are folded over several lines, never truncated. If the columns do not fit, or there
are more than ``MAX_ROWS`` rows (rich takes 1 ms for each), the plain writer is used, without line breaks.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from kgroups.model.groups import GroupState
from kgroups.model.severity import Severity
from kgroups.model.status import Status

from .cells import cell_text
from .color import chosen_color
from .plain import GAP, write_plain
from .table import Table
from .views import Align, Column

MAX_ROWS = 300
MIN_TEXT_WIDTH = 16
"""Minimum width to which a text column is folded; numbers and headers are not folded."""


PROSE = frozenset(
    ("note", "detail", "fix", "current_assignment", "target_assignment", "subscription", "owned_partitions")
)
"""Columns that are wrapped between words."""


class _Column(NamedTuple):
    """A column with the texts of its cells; ``floor`` is its minimum width."""

    column: Column
    texts: list[str]
    natural: int
    floor: int


def write_terminal(
    table: Table, stream: TextIO, width: int | None = None, headers: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, ...]:
    """Write the table. By default, only a terminal gets colors, except with TERM=dumb; NO_COLOR disables all styles.

    :param width: default: the width of the terminal; other streams have none, and nothing is folded.
    :param headers: group -> the parts of its header, in the order of the output; each group then has a table of its
        own without its name.
    :return: the headers of the columns that were omitted because they did not fit.
    """
    if len(table.rows) > MAX_ROWS or (headers and len(headers) > MAX_ROWS):
        write_plain(table, stream)
        return ()
    console = console_on(stream, width)
    rows: list[Any] = list(table.rows)
    columns = [_measured(table, column, rows) for column in table.columns if headers is None or column.key != "group"]
    if width is None and not stream.isatty():
        console.width = sum(column.natural for column in columns) + len(GAP) * len(columns)
    dropped: list[str] = []
    widths = _fitted(columns, console.width)
    for key in () if table.fixed else table.view.drops:
        if widths is None and any(column.column.key == key for column in columns):
            dropped += [column.column.header for column in columns if column.column.key == key]
            columns = [column for column in columns if column.column.key != key]
            widths = _fitted(columns, console.width)
    if widths is None:
        write_plain(table, stream)
        return ()
    if headers is None:
        console.print(_rich_table(table, rows, columns, widths), crop=False)
        return tuple(dropped)
    numbers = {group: list(some) for group, some in groupby(range(len(rows)), key=lambda number: rows[number][0])}
    for at, group in enumerate([*headers, *sorted(numbers.keys() - headers.keys())]):
        if at:
            console.print()
        console.print(_header(group, headers.get(group, ()), console.width))
        if some := numbers.get(group):
            part = [column._replace(texts=[column.texts[number] for number in some]) for column in columns]
            console.print(_rich_table(table, [rows[number] for number in some], part, widths), crop=False)
    return tuple(dropped)


def _measured(table: Table, column: Column, rows: Iterable[Any]) -> _Column:
    texts = [cell_text(column.value(row)) for row in rows]
    header = len(column.header) if table.headers else 1
    natural = max([header, *map(cell_len, texts)])
    if column.align is Align.RIGHT or (table.view.drops and column.key not in PROSE):
        floor = natural
    elif table.view.drops:
        floor = max(
            [header, min(natural, MIN_TEXT_WIDTH), *(cell_len(word) for text in texts for word in text.split())]
        )
    else:
        floor = min(natural, max(len(column.header), MIN_TEXT_WIDTH))
    return _Column(column, texts, natural, floor)


def _fitted(columns: Sequence[_Column], width: int) -> list[int] | None:
    natural, floors = [column.natural for column in columns], [column.floor for column in columns]
    return fit(natural, floors, width - len(GAP) * (len(columns) - 1))


def _header(group: str, parts: Sequence[str], width: int) -> Text:
    """Return the header of a group, with line breaks only between its parts."""
    header = Text(cell_text(group), style="bold")
    used = cell_len(header.plain)
    for number, part in enumerate(parts):
        before = ": " if number == 0 else ", "
        if used + len(before) + cell_len(part) + 1 > width:
            before = before.rstrip() + "\n  "
            used = 0
        header.append(before, style="not bold")
        style = status_style(part) if number == 0 and part in set(Status) else f"not bold {state_style(part)}".strip()
        header.append(part, style=style or "not bold")
        used += len(before) + cell_len(part)
    return header


def console_on(stream: TextIO, width: int | None = None) -> Console:
    """Return a rich console on a stream, without interpreting markup in texts; with NO_COLOR without any style."""
    chosen = chosen_color()
    system: Literal["auto", "standard"] | None = "auto"
    if chosen is False or (chosen is None and os.environ.get("NO_COLOR")):
        system = None
    elif chosen:
        system = "auto" if stream.isatty() else "standard"
    return Console(
        file=stream,
        width=width,
        color_system=system,
        force_terminal=chosen or None,
        no_color=False if chosen else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def fit(natural: Sequence[int], floors: Sequence[int], available: int) -> list[int] | None:
    """Return column widths within the available width, reducing the widest first; ``None`` if there are none.

    :param floors: minimum widths.
    """

    def capped(cap: int) -> list[int]:
        return [min(width, max(cap, floor)) for width, floor in zip(natural, floors, strict=True)]

    if sum(capped(0)) > available:
        return None
    return capped(bisect_right(range(1, max(natural) + 1), available, key=lambda cap: sum(capped(cap))))


def _rich_table(table: Table, rows: Sequence[Any], columns: Sequence[_Column], widths: Sequence[int]) -> RichTable:
    rich_table = RichTable(
        box=None,
        show_header=table.headers,
        header_style="bold",
        pad_edge=False,
        padding=(0, len(GAP), 0, 0),
    )
    for (column, *_), width in zip(columns, widths, strict=True):
        rich_table.add_column(Text(column.header), justify=column.align.value, width=width, overflow="fold")
    for at, row in enumerate(rows):
        texts = (column.texts[at] for column in columns)
        styles = (_style(column.key, column.value(row)) for column, *_ in columns)
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


_STATUS_STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "bold yellow", Severity.OK: "green"}


def status_style(status: str) -> str:
    """Return the rich style of a group's status."""
    return _STATUS_STYLES.get(Status(status).severity, "")


def _style(key: str, value: object) -> str:
    match key, value:
        case "state", str():
            return state_style(value)
        case "lag" | "total_lag", int() if value > 0:
            return "yellow"
        case "note", str():
            return "red"
        case "status", str():
            return status_style(value)
    return ""
