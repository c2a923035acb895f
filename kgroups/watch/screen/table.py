"""Lay out the table of a frame within the width of the terminal.

Numbers are never truncated, because a prefix would be another number. Names are shortened first, down to
a minimum; then columns are omitted, the least important first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from kgroups.model.severity import Severity
from kgroups.render.cells import escape
from kgroups.render.terminal import state_style, status_style

from ..state.arrange import shown_lag
from ..state.watching import WatchRow
from .columns import GAP, MIN_NAME, sparkline

_SPARKLINES = 12, 20
_WIDE = 140
"""Width of a terminal from which sparklines are long."""
_NARROW = 100
"""Width of a terminal below which rates and sparklines are omitted."""
_CHANGED = "bold reverse"
_NAME = "GROUP"
_RATES = ("LAG HISTORY", "IN/S", "OUT/S")
_WHY = "WHY"
_LEAST_WHY, _LEAST_NAMES = 30, 50
"""Width from which there is a reason of the status; width to which names are shortened for it."""
_OMITTED_FIRST = ("REBALANCES", *_RATES, "CATCH-UP", "#MEMBERS", "STATE", "STATUS")
"""Columns to omit, in this order; the cluster, the group, and its lag remain."""
_LEAST = {"IN/S": 5, "OUT/S": 6, "CATCH-UP": 10}
"""Widths of columns whose cells change with each refresh."""


class Column(NamedTuple):
    """A column: its header and a cell for each row."""

    header: str
    cells: list[Text]
    right: bool = True
    least: int = 0
    """The width of its widest cell in rows that are not drawn."""

    @property
    def width(self) -> int:
        """The width of the widest cell."""
        return max(cell_len(self.header), *(each.cell_len for each in self.cells), self.least)


class Layout:
    """The widths of columns over all rows so far, so that they change neither while scrolling nor while sorting.

    ``headers``: where the headers are: their first columns of the terminal, and those after them.
    """

    def __init__(self) -> None:
        self.headers: dict[str, range] = {}
        self._of: dict[str, int] = dict(_LEAST)
        self._names: set[str] = set()
        self._rows: Sequence[WatchRow] = ()

    def widths(self, rows: Sequence[WatchRow], *, ascii_only: bool) -> Mapping[str, int]:
        """Return the widths by header, also for these rows. They only grow."""
        if rows is self._rows or not rows:
            return self._of
        self._rows = rows
        names = {row.group for row in rows}
        for name in names - self._names:
            self._grow(_NAME, escape(name))
        self._names |= names
        for header, texts in (
            ("STATUS", {row.status.status for row in rows}),
            ("STATE", {row.state for row in rows}),
            ("CLUSTER", {row.cluster for row in rows}),
        ):
            for text in texts:
                self._grow(header, escape(text))
        for header, value in (("IN/S", "rate_in"), ("OUT/S", "rate_out")):
            self._grow(header, rate_text(max(filter(None, map(attrgetter(value), rows)), default=None)))
        self._grow("#MEMBERS", f"{max(row.members or 0 for row in rows):,}")
        self._grow("LAG", f"{max(row.total_lag or 0 for row in rows):,}")
        for row in rows:
            if row.shared:
                self._grow("#MEMBERS", row.members_text)
            if row.total_lag is None or row.stale or row.ahead or row.data_lost:
                self._grow("LAG", _lag(row, ascii_only))
            if row.stale:
                self._grow(_NAME, _name(row, styled=False))
        return self._of

    def _grow(self, header: str, text: str) -> None:
        width = cell_len(text)
        if width > self._of.get(header, 0):
            self._of[header] = width


def table_of(rows: Sequence[WatchRow], width: int, *, ascii_only: bool, styled: bool = True) -> Table:
    """Return the table.

    :param styled: whether stale rows can be dimmed; otherwise a word marks them.
    """
    columns = fitted(columns_of(rows, width, ascii_only=ascii_only, styled=styled), width)
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, GAP, 0, 0))
    for each, size in columns:
        justify: Literal["left", "right"] = "right" if each.right else "left"
        table.add_column(each.header, justify=justify, width=size, overflow="ellipsis", no_wrap=True)
    for number, row in enumerate(rows):
        table.add_row(*(each.cells[number] for each, _ in columns), style="dim" if row.stale else "")
    return table


def fitted(columns: Sequence[Column], width: int) -> list[tuple[Column, int]]:
    """Return the columns that fit, with their widths; names of groups and reasons get what remains."""
    omitted = {_WHY, *(_RATES if width < _NARROW else ())}
    (name,) = (each for each in columns if each.header.startswith(_NAME))

    def rest() -> int:
        """Return the width that remains for the names."""
        return width - sum(each.width + GAP for each in columns if each is not name and each.header not in omitted)

    for header in _OMITTED_FIRST:
        if rest() >= min(name.width, MIN_NAME):
            break
        omitted.add(header)
    most = rest()
    names = max(1, min(name.width, most))
    if most - min(names, _LEAST_NAMES) >= _LEAST_WHY + GAP:
        names = min(names, most - _LEAST_WHY - GAP)
        omitted.discard(_WHY)
    sizes = {name.header: names, _WHY: most - names - GAP}
    return [(each, sizes.get(each.header, each.width)) for each in columns if each.header not in omitted]


def columns_of(rows: Sequence[WatchRow], width: int, *, ascii_only: bool, styled: bool) -> tuple[Column, ...]:
    """Return all columns; the first one only if rows have a cluster."""
    history = _SPARKLINES[width >= _WIDE]
    several = any(row.cluster for row in rows)
    clusters = Column("CLUSTER", [Text(escape(row.cluster)) for row in rows], right=False)
    return (
        *((clusters,) if several else ()),
        Column(
            _NAME,
            [Text(_name(row, styled)) for row in rows],
            right=False,
        ),
        Column("STATUS", [Text(row.status.status, style=status_style(row.status.status)) for row in rows], right=False),
        Column(
            "STATE",
            [Text(escape(row.state), style=_style(row, "state", state_style(row.state))) for row in rows],
            right=False,
        ),
        Column("#MEMBERS", [Text(row.members_text, style=_style(row, "members")) for row in rows]),
        Column(
            "LAG",
            [Text(_lag(row, ascii_only), style=_lag_style(row)) for row in rows],
        ),
        Column("LAG HISTORY", [Text(sparkline(row.lags, history, ascii_only=ascii_only)) for row in rows], right=False),
        Column("IN/S", [Text(rate_text(row.rate_in)) for row in rows]),
        Column("OUT/S", [Text(rate_text(row.rate_out)) for row in rows]),
        Column("CATCH-UP", [Text(_catch_up(row)) for row in rows]),
        Column("REBALANCES", [Text(str(row.rebalances)) for row in rows]),
        Column(_WHY, [Text(_why(row)) for row in rows], right=False),
    )


def _why(row: WatchRow) -> str:
    return "" if row.status.severity is Severity.OK else escape(row.status.reason)


def _name(row: WatchRow, styled: bool) -> str:
    return escape(row.group) if styled or not row.stale else f"{escape(row.group)} (stale)"


def _lag(row: WatchRow, ascii_only: bool) -> str:
    text = _lag_number(row, ascii_only)
    return f"{text} ({row.remark})" if row.remark else text


def _lag_number(row: WatchRow, ascii_only: bool) -> str:
    value, old, least = shown_lag(row)
    text = _number(value)
    if least:
        return f"{'>=' if ascii_only else '≥'}{text}"
    return f"{text} ({row.lag_age_ms} ago)" if old and row.lag_age_ms is not None else text


def _lag_style(row: WatchRow) -> str:
    if row.total_lag is None:
        return "dim"
    return _style(row, "total_lag", "yellow" if row.total_lag or row.remark else "")


def _style(row: WatchRow, field: str, style: str = "") -> str:
    return f"{style} {_CHANGED}".strip() if field in row.changed else style


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def rate_text(value: float | None) -> str:
    """Return a rate in records per second, or - if unknown."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}"


def _catch_up(row: WatchRow) -> str:
    if row.catch_up_ms is not None:
        return str(row.catch_up_ms)
    if row.falls_behind:
        return "never" if row.members else "no members"
    return "steady" if row.steady else "-"
