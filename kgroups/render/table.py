"""What every writer is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .store import CHUNK_ROWS as CHUNK_ROWS
from .store import RowStore
from .views import Column, Row, View


class Table(NamedTuple):
    """Rows in their final order, under the columns that were chosen."""

    view: View
    columns: tuple[Column, ...]
    rows: Sequence[Row] | RowStore
    headers: bool = True

    def chunks(self) -> Iterator[list[Sequence[Any]]]:
        """The rows, in slices; of each slice, the values of each column."""
        if isinstance(self.rows, RowStore):
            for stored in self.rows.columns():
                yield [column.value(stored) for column in self.columns]
            return
        for start in range(0, len(self.rows), CHUNK_ROWS):
            # What a column takes of a row, it takes of rows that are laid on their side: all its values at once.
            fields: tuple[Any, ...] = tuple(zip(*self.rows[start : start + CHUNK_ROWS], strict=True))
            yield [column.value(fields) for column in self.columns]
