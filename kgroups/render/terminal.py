"""Write a table that fits a terminal, with colors. All views are laid out by the same rules.

No word, name, or ID is broken or cut, and no line is wider than the terminal, unless a single name or word is. If the
columns do not fit at their full width:

1. The columns in ``drops`` of the view, and columns of ``--verbose`` without values, are omitted; a column that fits
   in their place is kept, the last of ``drops`` first. Columns that the user chose are never omitted.
2. Prose is wrapped between words.
3. Names in the first two columns may be wider than their column: the name has a line of its own, and the row goes on
   in the next line. The same name in the next row is not repeated.
4. The others follow the row, as ``HEADER: value``; NOTE does so before a column is omitted, and other names if the
   table then has fewer lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import accumulate, groupby, takewhile
from math import ceil
from typing import Any, NamedTuple, TextIO

from rich.cells import cell_len

from kgroups.model.groups import GroupState
from kgroups.model.status import Status

from .cells import ABSENT, cell_text
from .color import has_color, severity_style, styled
from .plain import GAP, write_plain
from .table import Table
from .views import Align, Column, Tier
from .wrapping import fill, terminal_width, wrap

MAX_ROWS = 300
"""Number of rows up to which a table that is not on a terminal is padded."""
MIN_PROSE_WIDTH = 24
"""Minimum width of a column of prose; longer words make it wider."""
_LEADING = 2
"""Number of columns at the left whose names may be wider than the column."""
_USUAL = 0.9
"""Fraction of the names that fit their column; the others may have lines of their own."""
_CACHED = 4_096

PROSE = frozenset(
    (
        *("note", "detail", "fix", "error", "meaning", "title", "assignment", "gets", "gives_up", "nodes", "configs"),
        *("current_assignment", "target_assignment", "subscription", "owned_partitions", "previous_assignment"),
    )
)
"""Columns that are wrapped between words."""


class _Column:
    """A column, and the widths of its cells."""

    def __init__(self, column: Column, *, has_header: bool) -> None:
        self.column = column
        self.is_prose = column.key in PROSE
        self.is_note = column.key == "note"
        self.is_right = column.align is Align.RIGHT
        self.text: Callable[[Any], str] = lru_cache(_CACHED)(cell_text)
        self.header = len(column.header) if has_header else 1
        self._size: Callable[[Any], int] = lru_cache(_CACHED)(lambda value: cell_len(self.text(value)))
        self._widths: Counter[int] = Counter()
        self._names: Counter[int] = Counter()
        self._words: set[int] = set()
        self.has_values = False
        self.start = self.width = 0

    def measure(self, values: Sequence[Any]) -> None:
        counts = Counter(values)
        for value, number in counts.items():
            self._widths[self._size(value)] += number
            self._names[self._size(value)] += 1
        if self.is_prose:
            self._words.update(cell_len(word) for value in counts for word in self.text(value).split())
        self.has_values = self.has_values or any(value is not None and value is not False for value in counts)

    def is_optional(self, table: Table) -> bool:
        """Return whether the column may be omitted."""
        if self.column.key in table.asked:
            return False
        return self.column.key in table.view.drops or not (self.has_values or self.column.tier is Tier.BASE)

    @property
    def natural(self) -> int:
        """The width at which every cell is on one line."""
        return max([self.header, *self._widths])

    @property
    def usual(self) -> int:
        """The width at which most cells are on one line."""
        sizes = sorted(self._widths)
        counts = accumulate(self._widths[size] for size in sizes)
        enough = _USUAL * self._widths.total()
        return max(self.header, next((size for size, seen in zip(sizes, counts, strict=True) if seen >= enough), 0))

    def names_wider_than(self, width: int) -> int:
        """Return how many different names do not fit into a width."""
        return sum(number for size, number in self._names.items() if size > width)

    @property
    def least(self) -> int:
        """The width from which no word is broken."""
        if not self.is_prose:
            return self.natural
        return max(self.header, min(self.natural, MIN_PROSE_WIDTH), *self._words)


class _Layout(NamedTuple):
    """Where the columns of a table are: in the row, or below it; and the headers of those that are omitted."""

    shown: list[_Column]
    below: list[_Column]
    omitted: tuple[str, ...]


def write_terminal(
    table: Table, stream: TextIO, width: int | None = None, headers: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, ...]:
    """Write the table. By default, only a terminal gets colors, except with TERM=dumb; NO_COLOR disables all styles.

    :param width: default: the width of the terminal; other streams have none, and every column is as wide as its cells.
    :param headers: group -> the parts of its header, in the order of the output; each group then has a table of its
        own without its name.
    :return: the headers of the columns that were omitted because they did not fit.
    """
    width = width or terminal_width(stream)
    if width is None and max(len(table.rows), len(headers or ())) > MAX_ROWS:
        write_plain(table, stream)
        return ()
    columns = [_Column(column, has_header=table.headers) for column in table.columns]
    for chunk in table.chunks():
        for column, values in zip(columns, chunk, strict=True):
            column.measure(values)
    if headers is not None:
        columns = [column for column in columns if column.column.key != "group"]
    layout = _laid_out(columns, table, width)
    writer = _Writer(layout, stream, width, has_header=table.headers)
    if headers is None:
        writer.write_rows(table.rows)
        return layout.omitted
    rows = {group: list(some) for group, some in groupby(table.rows, key=lambda row: row[0])}
    for number, group in enumerate([*headers, *sorted(rows.keys() - headers.keys())]):
        if number:
            stream.write("\n")
        writer.write_group(group, headers.get(group, ()))
        if group in rows:
            writer.write_rows(rows[group])
    return layout.omitted


def _laid_out(columns: Sequence[_Column], table: Table, width: int | None) -> _Layout:
    widths = {column: column.natural for column in columns}
    below: list[_Column] = []
    omitted: list[_Column] = []
    if width is not None and _total(widths.values()) > width:
        widths, below, omitted = _fitted(columns, table, width)
    shown = [column for column in columns if column in widths]
    sizes = [widths[column] for column in shown]
    if width is not None:
        sizes = fit([column.natural for column in shown], sizes, width - len(GAP) * (len(shown) - 1))
    start = 0
    for column, size in zip(shown, sizes, strict=True):
        column.start, column.width = start, size
        start += size + len(GAP)
    headers = [column.column.header for column in columns if column in omitted]
    return _Layout(shown, [column for column in columns if column in below], tuple(headers if table.rows else ()))


class _Fit(NamedTuple):
    """The widths of the columns in the row, the columns below it, and those to be omitted."""

    widths: dict[_Column, int]
    below: list[_Column]
    omitted: list[_Column]

    def lines(self, rows: int, width: int) -> int:
        """Return about how many lines the rows have."""
        below = sum(len(column.column.header) + column.natural + 4 for column in self.below if not column.is_note)
        names = sum(column.names_wider_than(size) for column, size in self.widths.items() if not column.is_prose)
        return names + rows * (1 + ceil(below / width))


def _fitted(columns: Sequence[_Column], table: Table, width: int) -> _Fit:
    """Return the columns where they fit; of several ways, the one with the fewest lines."""
    required = [column for column in columns if not column.is_optional(table)]
    numbers_and_names = [column for column in required if not column.is_prose]
    leading = list(takewhile(lambda column: not column.is_right, numbers_and_names[:_LEADING]))
    names = [column for column in numbers_and_names[len(leading) :] if not column.is_right]
    fits = [_fitted_without(names[at:], columns, leading, table, width) for at in range(len(names), -1, -1)]
    return min(fits, key=lambda fit: fit.lines(len(table.rows), width))


def _fitted_without(
    moved: Sequence[_Column], columns: Sequence[_Column], leading: Sequence[_Column], table: Table, width: int
) -> _Fit:
    """Return the columns where they fit, with some of them below the row."""
    drops, widths = table.view.drops, dict[_Column, int]()

    def fits(column: _Column, least: int) -> bool:
        """Add the column if it fits; the first one always does."""
        if column in moved or (widths and _total((*widths.values(), least)) > width):
            return False
        widths[column] = least
        return True

    optional = [column for column in columns if column.is_optional(table)]
    required = [column for column in columns if column not in optional]
    below = [
        column
        for column in required
        if not (column.is_prose or fits(column, column.header if column in leading else column.natural))
    ]
    _widen([column for column in leading if column in widths], widths, width - _total(widths.values()))
    below += [column for column in required if column.is_prose and not (column.is_note or fits(column, column.least))]
    kept = sorted(
        (column for column in optional if column.has_values), key=lambda column: -drops.index(column.column.key)
    )
    omitted = [column for column in optional if not column.has_values]
    omitted += [column for column in kept if not fits(column, column.least)]
    below += [column for column in required if column.is_note and not fits(column, column.least)]
    return _Fit(widths, below, omitted)


def _widen(leading: Sequence[_Column], widths: dict[_Column, int], spare: int) -> None:
    """Distribute the spare width among the first columns, so that the fewest names need a line of their own."""

    def shared(last: int) -> dict[_Column, int]:
        """Return the widths if the last of the columns gets a part of the spare width, and the others the rest."""
        found, rest = {leading[-1]: widths[leading[-1]] + last}, spare - last
        for column in leading[:-1]:
            found[column] = widths[column] + max(0, min(column.usual - widths[column], rest))
        return found

    def wider(found: dict[_Column, int]) -> int:
        return sum(column.names_wider_than(size) for column, size in found.items())

    if leading and spare > 0:
        most = max(0, min(leading[-1].usual - widths[leading[-1]], spare))
        best = min(map(shared, range(most, -1, -1)), key=wider)
        widths.update(best)


def _total(widths: Iterable[int]) -> int:
    each = list(widths)
    return sum(each) + len(GAP) * (len(each) - 1)


def fit(natural: Sequence[int], floors: Sequence[int], available: int) -> list[int]:
    """Return column widths within the available width, reducing the widest first, but none below its minimum."""

    def capped(cap: int) -> list[int]:
        return [min(width, max(cap, floor)) for width, floor in zip(natural, floors, strict=True)]

    return capped(bisect_right(range(1, max(natural, default=0) + 1), available, key=lambda cap: sum(capped(cap))))


class _Writer:
    """Writes rows in a layout."""

    def __init__(self, layout: _Layout, stream: TextIO, width: int | None, *, has_header: bool) -> None:
        self._layout = layout
        self._stream = stream
        self._width = width
        self._has_header = has_header
        self._colored = has_color(stream)
        self._cells = [
            (lru_cache(_CACHED)(partial(self._cell, column)), column.column.value) for column in layout.shown
        ]

    def write_group(self, group: str, parts: Sequence[str]) -> None:
        """Write the header of a group, with line breaks only between its parts."""
        width = self._width or sum(column.width + len(GAP) for column in self._layout.shown)
        name = self._styled(cell_text(group), "bold")
        units = [f"{name}:"] if parts else [name]
        for number, part in enumerate(parts, 1):
            style = status_style(part) if number == 1 and part in set(Status) else state_style(part)
            text = self._styled(part, style) + "," * (number < len(parts))
            units += [text] if cell_len(part) < width else text.split(" ")
        self._stream.write("\n".join(fill(units, width)) + "\n")

    def write_rows(self, rows: Iterable[Any]) -> None:
        """Write the header of the columns, and the rows."""
        if self._has_header:
            headers = (_padded(column.column.header, column) for column in self._layout.shown)
            self._stream.write(self._styled(GAP, "bold").join(self._styled(each, "bold") for each in headers) + "\n")
        above = ""
        for row in rows:
            padded = [cell(value(row)) for cell, value in self._cells]
            if None in padded:
                lines, above = self._lines(row, above)
            else:
                lines, above = [GAP.join(padded)], ""  # type: ignore[arg-type]  # none is None
            self._stream.write("\n".join([*lines, *self._lines_below(row)]) + "\n")

    def _cell(self, column: _Column, value: object) -> str | None:
        """Return a cell as wide as its column; ``None`` if it needs lines of its own."""
        text = column.text(value)
        if cell_len(text) > column.width:
            return None
        return self._styled(_padded(text, column), _style(column.column, value))

    def _lines(self, row: Any, above: str) -> tuple[list[str], str]:
        """Return the lines of a row, and the name in its first column.

        :param above: the name in the first column of the row above, which is not repeated on a line of its own.
        """
        lines: list[str] = []
        line, used, name = "", 0, above
        following: list[tuple[_Column, str, list[str]]] = []
        for at, column in enumerate(self._layout.shown):
            value = column.column.value(row)
            text, style, start = column.text(value), _style(column.column, value), column.start
            if column.is_prose:
                text, *rest = wrap(text, column.width, indent=0).split("\n")
                following.append((column, style, rest))
            size = cell_len(text)
            if at == 0:
                name = text
                if size > column.width and name == above:
                    text, size, style = "", 0, ""
            if size > column.width and self._width is not None:
                start = max(0, min(start, self._width - size))
            if used and used + len(GAP) > start:
                lines.append(line)
                line, used = "", 0
            line += " " * (start - used) + self._styled(_padded(text, column), style)
            used = start + max(size, column.width)
        lines.append(line)
        for number in range(max((len(rest) for _, _, rest in following), default=0)):
            line, used = "", 0
            for column, style, rest in following:
                if number < len(rest):
                    line += " " * (column.start - used) + self._styled(_padded(rest[number], column), style)
                    used = column.start + column.width
            lines.append(line)
        return lines, name

    def _lines_below(self, row: Any) -> Iterator[str]:
        """Yield the lines with the values of the columns that do not fit in the row."""
        if not self._layout.below or self._width is None:
            return
        units: list[str] = []
        prose: list[str] = []
        for column in self._layout.below:
            value = column.column.value(row)
            text, header = column.text(value), f"{column.column.header}:"
            if column.column.key == "note" or (column.is_prose and cell_len(text) + len(header) + 3 > self._width):
                if text != ABSENT:
                    lines = wrap(text, self._width, first=f"  {header} ", indent=4).split("\n")
                    prose += (self._styled(line, _style(column.column, value)) for line in lines)
            elif cell_len(text) + len(header) + 3 <= self._width:
                units.append(f"{header} {text}")
            else:
                units += [header, text]
        if units:
            yield from fill(units, self._width, first="  ", gap=GAP)
        yield from prose

    def _styled(self, text: str, style: str) -> str:
        return styled(text, style) if text and self._colored else text


def _padded(text: str, column: _Column) -> str:
    blanks = " " * (column.width - cell_len(text))
    return blanks + text if column.is_right else text + blanks


_STATE_STYLES = {
    GroupState.STABLE: "green",
    GroupState.EMPTY: "dim",
    GroupState.DEAD: "red",
    **dict.fromkeys(GroupState.REBALANCING, "yellow"),
}


def state_style(state: str) -> str:
    """Return the style of a group's state."""
    return _STATE_STYLES.get(state, "")


_STATUS_STYLES: dict[str, str] = {status: severity_style(status.severity) for status in Status}


def status_style(status: str) -> str:
    """Return the style of a group's status; other columns of this name have other words."""
    return _STATUS_STYLES.get(status, "")


def _style(column: Column, value: object) -> str:
    if column.style:
        return column.style(value)
    match column.key, value:
        case "state", str():
            return state_style(value)
        case "lag" | "total_lag", int() if value > 0:
            return "yellow"
        case "note", str():
            return "red"
        case "status", str():
            return status_style(value)
    return ""
