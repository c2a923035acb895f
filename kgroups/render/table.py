"""Tables, the input of every writer; and a compact store for their rows, in memory and then in a temporary file.

A million rows of eight columns take 300 MB as tuples, and 40 MB in a :class:`RowStore`.
"""

from __future__ import annotations

import io
import marshal
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import merge
from itertools import accumulate, islice
from operator import itemgetter
from typing import IO, Any, NamedTuple

from .views import Column, Row, View

MAX_PLAIN_ROWS = 20_000
"""Number of rows that are stored as tuples, with which nearly every result is complete."""
CHUNK_ROWS = 2_048
"""Number of rows formatted at once: enough to stay in C loops, few enough to need little memory."""
IN_MEMORY = 8 << 20
"""Number of bytes stored in memory before a temporary file is created."""

_first = itemgetter(0)


class RowStore:
    """Rows of one view, appended in their final order; they can be iterated any number of times.

    :param columns: the columns of the view.
    """

    def __init__(self, columns: Iterable[Column] = ()) -> None:
        self._columns = tuple(column for column in columns if column.sooner)
        self._plain: list[Row] = []
        self._packed = 0
        self._file: IO[bytes] | None = None
        self._spilled = False
        self._chunks: list[tuple[int, ...]] = []
        """Number of bytes of each column, per chunk."""
        self._representatives: list[Row] = []
        self._seen: list[set[object]] = [set() for _ in self._columns]

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return self._packed + len(self._plain)

    def append(self, rows: Iterable[Row]) -> None:
        """Append rows."""
        more = iter(rows)
        while some := list(islice(more, CHUNK_ROWS)):
            self._plain += some
            if len(self._plain) > (MAX_PLAIN_ROWS if self._file is None else 2 * CHUNK_ROWS):
                self._pack()

    def insert(self, rows: Iterable[Row]) -> None:
        """Insert rows in the order of their first field, after existing rows with the same value."""
        merged = RowStore(self._columns)
        merged.append(merge(self, sorted(rows, key=_first), key=_first))
        self.__dict__, merged.__dict__ = merged.__dict__, self.__dict__

    def __iter__(self) -> Iterator[Row]:
        for columns in self._unpacked():
            yield from zip(*columns, strict=True)
        yield from self._plain

    def columns(self) -> Iterator[Sequence[Sequence[Any]]]:
        """Yield slices of rows, each as the values of every column."""
        yield from self._unpacked()
        for start in range(0, len(self._plain), CHUNK_ROWS):
            yield tuple(zip(*self._plain[start : start + CHUNK_ROWS], strict=True))

    def representatives(self) -> Sequence[Row]:
        """Return rows that are sufficient to decide which conditional columns are shown.

        For each such column, they contain every type of its values, and every boolean value.
        """
        return [*self._representatives, *self._plain]

    def _pack(self) -> None:
        file = self._file = self._file or io.BytesIO()
        file.seek(0, io.SEEK_END)
        full = len(self._plain) - len(self._plain) % CHUNK_ROWS
        for start in range(0, full, CHUNK_ROWS):
            rows = self._plain[start : start + CHUNK_ROWS]
            columns = tuple(zip(*rows, strict=True))
            self._collect_representatives(rows, columns)
            packed = [_packed(values) for values in columns]
            file.write(b"".join(packed))
            self._chunks.append(tuple(map(len, packed)))
        self._packed += full
        del self._plain[:full]
        if not self._spilled and file.tell() > IN_MEMORY:
            self._spill(file)

    def _spill(self, file: IO[bytes]) -> None:
        import tempfile  # importing it takes a tenth of the startup time of a small command

        self._spilled = True
        try:
            spill = tempfile.TemporaryFile("w+b", prefix="kgroups-")  # noqa: SIM115  # closed with the store
        except OSError:
            return  # no writable directory: stay in memory
        try:
            spill.write(file.getvalue() if isinstance(file, io.BytesIO) else b"")
        except OSError:
            spill.close()
            return
        self._file = spill

    def _collect_representatives(self, rows: Sequence[Row], columns: Sequence[Sequence[object]]) -> None:
        for column, seen in zip(self._columns, self._seen, strict=True):
            values = column.value(columns)
            types = set(map(type, values))
            if bool not in types and types <= seen:
                continue
            for row, value in zip(rows, values, strict=True):
                mark = value if isinstance(value, bool) else type(value)
                if mark not in seen:
                    seen.add(mark)
                    self._representatives.append(row)

    def _unpacked(self) -> Iterator[Sequence[Sequence[Any]]]:
        if self._file is None:
            return
        at = 0
        for sizes in self._chunks:
            self._file.seek(at)
            data = memoryview(self._file.read(sum(sizes)))
            at += len(data)
            yield _Columns(data, sizes)


class Table(NamedTuple):
    """Rows in their final order, and the selected columns."""

    view: View
    columns: tuple[Column, ...]
    rows: Sequence[Row] | RowStore
    headers: bool = True
    asked: Collection[str] = ()
    """The keys of columns that the user chose; a narrow terminal omits none of them."""

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


class _Columns(Sequence[Sequence[Any]]):
    """The columns of one slice, unpacked on access."""

    def __init__(self, data: memoryview, sizes: Sequence[int]) -> None:
        self._data = data
        self._ends = tuple(accumulate(sizes, initial=0))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: Any) -> Any:
        return _unpacked(self._data[self._ends[at] : self._ends[at + 1]])


def _packed(values: Sequence[object]) -> bytes:
    try:
        return b"m" + marshal.dumps(values)  # type: ignore[arg-type]  # raises ValueError for other types
    except ValueError:  # objects of the model
        import pickle

        return b"p" + pickle.dumps(values)


def _unpacked(data: memoryview) -> Sequence[Any]:
    if data[0] == ord("m"):
        return marshal.loads(data[1:])  # type: ignore[no-any-return]
    import pickle

    return pickle.loads(data[1:])  # type: ignore[no-any-return]  # written by this process
