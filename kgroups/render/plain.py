"""Aligned text for pipes, and for tables too big for anything prettier.

Two passes: the first measures each column, the second joins slices of rows. No Python code runs per cell: a column of
few values has their texts made once, and one of many holds only whole numbers or printable ASCII, nearly always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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

Convert = Callable[[Iterable[object]], Iterable[str]]


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
        _layout(table, column, distinct, padded=at < last or (last > 0 and column.align is Align.RIGHT))
        for at, (column, distinct) in enumerate(zip(table.columns, _distinct(table), strict=True))
    ]
    if table.headers:
        stream.write(GAP.join(layout.header for layout in layouts) + "\n")
    for columns in table.chunks():
        cells = [layout.convert(values) for layout, values in zip(layouts, columns, strict=True)]
        stream.write("\n".join(map(GAP.join, zip(*cells, strict=True))) + "\n")


def _distinct(table: Table) -> list[set[object]]:
    """The values of each column."""
    found: list[set[object]] = [set() for _ in table.columns]
    for columns in table.chunks():
        for distinct, values in zip(found, columns, strict=True):
            distinct.update(values)
    return found


def _layout(table: Table, column: Column, distinct: set[object], padded: bool) -> _Layout:
    right = column.align is Align.RIGHT
    few = len(distinct) * OFTEN <= len(table.rows)
    longest = None if few else _longest_as_is(distinct - {None})
    if longest is not None:
        width = _width(table, column, padded, longest)
        convert = partial(_justified, right, width, None in distinct)
    else:
        texts = {value: cell_text(value) for value in distinct}
        width = _width(table, column, padded, max(map(display_width, texts.values()), default=0))
        convert = partial(_looked_up, {value: pad(text, width, right) for value, text in texts.items()})
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


def _looked_up(texts: Mapping[object, str], values: Iterable[object]) -> Iterable[str]:
    """Also what needs escaping, padding by display width, or words of ours."""
    return map(texts.__getitem__, values)
