"""Rows that are too many to keep as objects: kept by column in a compact form, in memory and then in a temporary file.

A million rows of eight columns take 300 MB as tuples, and 40 MB here.
"""

from __future__ import annotations

import io
import marshal
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import accumulate, islice
from operator import itemgetter
from typing import IO, Any

from .views import Column, Row

AS_THEY_ARE = 20_000
"""Rows that are kept as tuples: so few cost little, and nearly every answer has fewer."""
CHUNK_ROWS = 2_048
"""Rows that are turned into text at once: enough to stay inside C loops, few enough to cost no memory."""
IN_MEMORY = 8 << 20
"""Bytes that are kept in memory before a temporary file is made."""

_first = itemgetter(0)


class RowStore:
    """Rows of one kind, appended in their final order and read from the beginning, any number of times.

    :param columns: those of the rows' view.
    """

    def __init__(self, columns: Iterable[Column] = ()) -> None:
        self._columns = tuple(column for column in columns if column.sooner)
        self._plain: list[Row] = []
        self._packed = 0
        self._file: IO[bytes] | None = None
        self._spilled = False
        self._chunks: list[tuple[int, ...]] = []
        """Of each chunk, the number of bytes of each column."""
        self._witnesses: list[Row] = []
        self._seen: list[set[object]] = [set() for _ in self._columns]

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return self._packed + len(self._plain)

    def append(self, rows: Iterable[Row]) -> None:
        """Adds rows behind those that are there."""
        more = iter(rows)
        while some := list(islice(more, CHUNK_ROWS)):
            self._plain += some
            if len(self._plain) > (AS_THEY_ARE if self._file is None else 2 * CHUNK_ROWS):
                self._pack()

    def insert(self, rows: Iterable[Row]) -> None:
        """Adds rows where they belong, by their first field, behind others of the same."""
        merged = RowStore(self._columns)
        merged.append(merge(self, sorted(rows, key=_first), key=_first))
        self.__dict__, merged.__dict__ = merged.__dict__, self.__dict__

    def __iter__(self) -> Iterator[Row]:
        for columns in self._unpacked():
            yield from zip(*columns, strict=True)
        yield from self._plain

    def columns(self) -> Iterator[Sequence[Sequence[Any]]]:
        """The rows in slices; of each slice, the values of every column."""
        yield from self._unpacked()
        for start in range(0, len(self._plain), CHUNK_ROWS):
            yield tuple(zip(*self._plain[start : start + CHUNK_ROWS], strict=True))

    def witnesses(self) -> Sequence[Row]:
        """Rows that have, in each column that appears for some values only, every type of the column's values, and of
        booleans every value."""
        return [*self._witnesses, *self._plain]

    def _pack(self) -> None:
        file = self._file = self._file or io.BytesIO()
        file.seek(0, io.SEEK_END)
        whole = len(self._plain) - len(self._plain) % CHUNK_ROWS
        for start in range(0, whole, CHUNK_ROWS):
            rows = self._plain[start : start + CHUNK_ROWS]
            columns = tuple(zip(*rows, strict=True))
            self._witness(rows, columns)
            packed = [_packed(values) for values in columns]
            file.write(b"".join(packed))
            self._chunks.append(tuple(map(len, packed)))
        self._packed += whole
        del self._plain[:whole]
        if not self._spilled and file.tell() > IN_MEMORY:
            self._spill(file)

    def _spill(self, file: IO[bytes]) -> None:
        import tempfile  # here: it is a tenth of the start of a small command

        self._spilled = True
        try:
            spill = tempfile.TemporaryFile("w+b", prefix="kgroups-")  # noqa: SIM115  # for as long as the rows are
        except OSError:
            return  # no folder to write to: then memory it is
        try:
            spill.write(file.getvalue() if isinstance(file, io.BytesIO) else b"")
        except OSError:
            spill.close()
            return
        self._file = spill

    def _witness(self, rows: Sequence[Row], columns: Sequence[Sequence[object]]) -> None:
        for column, seen in zip(self._columns, self._seen, strict=True):
            values = column.value(columns)
            kinds = set(map(type, values))
            if bool not in kinds and kinds <= seen:
                continue
            for row, value in zip(rows, values, strict=True):
                mark = value if isinstance(value, bool) else type(value)
                if mark not in seen:
                    seen.add(mark)
                    self._witnesses.append(row)

    def _unpacked(self) -> Iterator[Sequence[Sequence[Any]]]:
        if self._file is None:
            return
        at = 0
        for sizes in self._chunks:
            self._file.seek(at)
            data = memoryview(self._file.read(sum(sizes)))
            at += len(data)
            yield _Columns(data, sizes)


class _Columns(Sequence[Sequence[Any]]):
    """The columns of one slice, unpacked when they are asked for."""

    def __init__(self, data: memoryview, sizes: Sequence[int]) -> None:
        self._data = data
        self._ends = tuple(accumulate(sizes, initial=0))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: Any) -> Any:
        return _unpacked(self._data[self._ends[at] : self._ends[at + 1]])


def _packed(values: Sequence[object]) -> bytes:
    try:
        return b"m" + marshal.dumps(values)  # type: ignore[arg-type]  # or a ValueError
    except ValueError:  # objects of the model
        import pickle

        return b"p" + pickle.dumps(values)


def _unpacked(data: memoryview) -> Sequence[Any]:
    if data[0] == ord("m"):
        return marshal.loads(data[1:])  # type: ignore[no-any-return]
    import pickle

    return pickle.loads(data[1:])  # type: ignore[no-any-return]  # what this process has written
