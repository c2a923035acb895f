"""Write aligned text for pipes, and for tables that are too large for rich.

Two passes: the first measures each column, the second joins slices of rows. No Python code runs per cell: for a column
with few distinct values, each text is created once; one with many nearly always contains only integers or printable
ASCII.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple, TextIO

from kgroups.model.visible import is_plain

from .cells import ABSENT, cell_text, display_width, is_cell_text, pad
from .table import Table
from .views import Align, Column

GAP = "  "
MIN_REPEATS = 32
"""Mean number of rows per distinct value from which texts are created once per value, and looked up for each row."""

MAX_DISTINCT = 50_000
"""Maximum number of distinct values of a column kept while measuring; beyond it, only their summary is kept."""

Convert = Callable[[Sequence[Any]], Iterable[str]]


class _Layout(NamedTuple):
    """Layout of a column: ``convert`` turns its values into texts of equal width."""

    header: str
    convert: Convert


def write_plain(table: Table, stream: TextIO) -> None:
    """Write one header for the whole table, two blanks between columns, right-aligned numbers, no trailing blanks.

    Text in the last column is not padded, nor is a single column, so that scripts can read it.
    """
    last = len(table.columns) - 1
    layouts = [
        _layout(table, column, values, padded=at < last or (last > 0 and column.align is Align.RIGHT))
        for at, (column, values) in enumerate(zip(table.columns, _values(table), strict=True))
    ]
    if table.headers:
        stream.write(GAP.join(layout.header for layout in layouts) + "\n")
    for columns in table.chunks():
        cells = [layout.convert(values) for layout, values in zip(layouts, columns, strict=True)]
        stream.write("\n".join(map(GAP.join, zip(*cells, strict=True))) + "\n")


class _Values:
    """Measurements of a column: its ``distinct`` values, or for ``many``, a summary.

    The summary is the width of the ``longest`` text, whether a value is ``absent``, and whether ``str`` of each value
    is its text (``as_is``).
    """

    def __init__(self) -> None:
        self.distinct: set[object] = set()
        self.many = False
        self.as_is = True
        self.absent = False
        self.longest = 0

    def add(self, values: Iterable[object]) -> None:
        self.distinct.update(values)
        if len(self.distinct) > MAX_DISTINCT:
            self.many = True
        if self.many:
            self.fold()

    def fold(self) -> None:
        """Replace the values with their summary."""
        self.absent = self.absent or None in self.distinct
        self.distinct.discard(None)
        longest = _longest_as_is(self.distinct)
        if longest is None:
            self.as_is = False
            longest = max(map(display_width, map(cell_text, self.distinct)), default=0)
        self.longest = max(self.longest, longest, len(ABSENT) if self.absent else 0)
        self.distinct = set()


def _values(table: Table) -> list[_Values]:
    """Measure each column."""
    found = [_Values() for _ in table.columns]
    for columns in table.chunks():
        for measured, values in zip(found, columns, strict=True):
            measured.add(values)
    return found


def _layout(table: Table, column: Column, values: _Values, padded: bool) -> _Layout:
    right = column.align is Align.RIGHT
    if not values.many and len(values.distinct) * MIN_REPEATS <= len(table.rows):
        texts = {value: cell_text(value) for value in values.distinct}
        width = _width(table, column, padded, max(map(display_width, texts.values()), default=0))
        convert: Convert = partial(_mapped, {value: pad(text, width, right) for value, text in texts.items()})
    else:
        values.fold()
        width = _width(table, column, padded, values.longest)
        convert = partial(_justified, right, width, values.absent) if values.as_is else partial(_padded, right, width)
    return _Layout(pad(column.header, width, right), convert)


def _width(table: Table, column: Column, padded: bool, longest: int) -> int:
    if not padded:
        return 0
    return max(longest, len(column.header)) if table.headers else longest


def _longest_as_is(values: set[object]) -> int | None:
    """Return the length of the longest text if ``str`` of each value is its text; ``None`` if any needs conversion."""
    types = set(map(type, values))
    if types <= {int}:
        numbers: set[Any] = values
        return max(len(str(min(numbers))), len(str(max(numbers)))) if numbers else len(ABSENT)
    if types == {str}:
        strings: set[Any] = values
        joined = "".join(strings)
        if is_plain(joined) and (" " not in joined or all(map(is_cell_text, strings))):
            return None if "" in strings or ABSENT in strings else max(map(len, strings))
    return None


def _justified(right: bool, width: int, absent: bool, values: Iterable[object]) -> Iterable[str]:
    if absent:
        values = [ABSENT if value is None else value for value in values]
    return map(str.rjust if right else str.ljust, map(str, values), repeat(width))


def _padded(right: bool, width: int, values: Sequence[object]) -> Iterable[str]:
    return _mapped({value: pad(cell_text(value), width, right) for value in set(values)}, values)


def _mapped(texts: Mapping[object, str], values: Iterable[object]) -> Iterable[str]:
    """Map values to their texts, which may be escaped, padded by display width, or replaced."""
    return map(texts.__getitem__, values)
