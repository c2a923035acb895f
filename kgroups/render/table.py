"""The input of every writer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .store import CHUNK_ROWS as CHUNK_ROWS
from .store import RowStore
from .views import Column, Row, View


class Table(NamedTuple):
    """Rows in their final order, and the selected columns."""

    view: View
    columns: tuple[Column, ...]
    rows: Sequence[Row] | RowStore
    headers: bool = True
    fixed: bool = False
    """Whether the user chose the columns, so that none is omitted on a narrow terminal."""

    def chunks(self) -> Iterator[list[Sequence[Any]]]:
        """Yield slices of rows, each as a list of the values of each column."""
        if isinstance(self.rows, RowStore):
            for stored in self.rows.columns():
                yield [column.value(stored) for column in self.columns]
            return
        for start in range(0, len(self.rows), CHUNK_ROWS):
            # Transpose the rows: ``column.value`` selects by position, here all values of a column at once.
            fields: tuple[Any, ...] = tuple(zip(*self.rows[start : start + CHUNK_ROWS], strict=True))
            yield [column.value(fields) for column in self.columns]
