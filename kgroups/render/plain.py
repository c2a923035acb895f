"""Aligned text for pipes, and for tables too big for anything prettier.

Two passes: the first measures each column, the second joins slices of rows. No Python code runs per cell: a column of
few values has their texts made once, and one of many holds only whole numbers or printable ASCII, nearly always.
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
OFTEN = 32
"""How often a column's values are there, on average, for their texts to be made once, and looked up for each row."""

MOST_DISTINCT = 50_000
"""Values of a column that are remembered while it is measured; beyond them only what they come to."""

Convert = Callable[[Sequence[Any]], Iterable[str]]


class _Layout(NamedTuple):
    """How one column is written: ``convert`` makes its values texts of one width."""

    header: str
    convert: Convert


def write_plain(table: Table, stream: TextIO) -> None:
    """One header for the whole table, two blanks between columns, numbers to the right; no blank ends a line.

    Text in the last column is not padded, and nothing is where there is only one: that is for scripts to read.
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
    """What is known of a column's values: all ``distinct`` ones, or of too many the ``longest`` text among them, and
    whether each is a text ``as_is``."""

    def __init__(self) -> None:
        self.distinct: set[object] = set()
        self.many = False
        self.as_is = True
        self.absent = False
        self.longest = 0

    def add(self, values: Iterable[object]) -> None:
        self.distinct.update(values)
        if len(self.distinct) > MOST_DISTINCT:
            self.many = True
        if self.many:
            self.fold()

    def fold(self) -> None:
        """Forgets the values, and keeps what they come to."""
        self.absent = self.absent or None in self.distinct
        self.distinct.discard(None)
        longest = _longest_as_is(self.distinct)
        if longest is None:
            self.as_is = False
            longest = max(map(display_width, map(cell_text, self.distinct)), default=0)
        self.longest = max(self.longest, longest, len(ABSENT) if self.absent else 0)
        self.distinct = set()


def _values(table: Table) -> list[_Values]:
    """What is known of each column."""
    found = [_Values() for _ in table.columns]
    for columns in table.chunks():
        for known, values in zip(found, columns, strict=True):
            known.add(values)
    return found


def _layout(table: Table, column: Column, values: _Values, padded: bool) -> _Layout:
    right = column.align is Align.RIGHT
    if not values.many and len(values.distinct) * OFTEN <= len(table.rows):
        texts = {value: cell_text(value) for value in values.distinct}
        width = _width(table, column, padded, max(map(display_width, texts.values()), default=0))
        convert: Convert = partial(_looked_up, {value: pad(text, width, right) for value, text in texts.items()})
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
    """The longest text of values whose text is a plain ``str`` of them; ``None`` when some need our own hand."""
    kinds = set(map(type, values))
    if kinds <= {int}:
        numbers: set[Any] = values
        return max(len(str(min(numbers))), len(str(max(numbers)))) if numbers else len(ABSENT)
    if kinds == {str}:
        strings: set[Any] = values
        whole = "".join(strings)
        if is_plain(whole) and (" " not in whole or all(map(is_cell_text, strings))):
            return None if "" in strings or ABSENT in strings else max(map(len, strings))
    return None


def _justified(right: bool, width: int, absent: bool, values: Iterable[object]) -> Iterable[str]:
    if absent:
        values = [ABSENT if value is None else value for value in values]
    return map(str.rjust if right else str.ljust, map(str, values), repeat(width))


def _padded(right: bool, width: int, values: Sequence[object]) -> Iterable[str]:
    return _looked_up({value: pad(cell_text(value), width, right) for value in set(values)}, values)


def _looked_up(texts: Mapping[object, str], values: Iterable[object]) -> Iterable[str]:
    """Also what needs escaping, padding by display width, or words of ours."""
    return map(texts.__getitem__, values)
