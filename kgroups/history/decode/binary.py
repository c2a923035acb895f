"""Arrow's binary columns for numpy: one array of bytes, and the start and end of each row in it.

Every method takes the positions of all rows at once. Rule: positions may be after the end of a row, or of the column
(the value is then meaningless, and the caller has found that the row does not fit), but never before the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_PADDING = 32
"""More bytes than any method reads at once."""


class Bytes:
    """The values of a ``pa.binary()`` array; a null is an empty row."""

    def __init__(self, column: pa.BinaryArray) -> None:
        _, offsets, data = column.buffers()
        begin, size = column.offset, len(column)
        bounds: Integers = np.frombuffer(offsets, np.int32, size + 1, begin * 4).astype(np.int64)
        used = np.frombuffer(data, np.uint8, bounds[-1] - bounds[0], bounds[0]) if data else np.empty(0, np.uint8)
        self._data = np.concatenate([used, np.zeros(_PADDING, np.uint8)])
        self._last = len(used)
        bounds -= bounds[0]
        self.starts: Integers = bounds[:-1]
        self.ends: Integers = bounds[1:]

    def uint8(self, at: Integers) -> Integers:
        return self._data[self._within(at)].astype(np.int64)

    def int16(self, at: Integers) -> Integers:
        return self._numbers(">i2", at)

    def int32(self, at: Integers) -> Integers:
        return self._numbers(">i4", at)

    def int64(self, at: Integers) -> Integers:
        return self._numbers(">i8", at)

    def _numbers(self, form: str, at: Integers) -> Integers:
        # A window that moves by one byte: a number can start at every position.
        width = int(form[-1])
        windows: npt.NDArray[Any] = np.ndarray(len(self._data) - width + 1, form, self._data, strides=(1,))
        return windows[self._within(at)].astype(np.int64)

    def uuids(self, at: Integers) -> pa.FixedSizeBinaryArray:
        """Return the sixteen bytes from each position."""
        windows: npt.NDArray[Any] = np.ndarray(len(self._data) - 15, "V16", self._data, strides=(1,))
        found = windows[self._within(at)]
        return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(found), [None, pa.py_buffer(found.tobytes())])

    def slices(self, at: Integers, sizes: Integers) -> pa.BinaryArray:
        """Return the bytes from each position; all of them must be in the column."""
        bounds = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=bounds[1:])
        # The source of each byte: its index in the result, plus the shift of its row.
        sources = np.arange(bounds[-1]) + np.repeat(at - bounds[:-1], sizes)
        offsets = pa.py_buffer(bounds.astype(np.int32).tobytes())
        return pa.BinaryArray.from_buffers(
            pa.binary(), len(sizes), [None, offsets, pa.py_buffer(self._data[sources].tobytes())]
        )

    def _within(self, at: Integers) -> Integers:
        return np.minimum(at, self._last)


def decode_utf8(column: pa.BinaryArray) -> tuple[pa.StringArray, Flags]:
    """Return the column as text, and which rows are valid UTF-8; the text of other rows is empty."""
    try:
        return column.cast(pa.string()), np.ones(len(column), bool)
    except pa.ArrowInvalid:
        found = [_text(value) for value in column.to_pylist()]
        valid = np.array([text is not None for text in found], bool)
        return pa.array([text or "" for text in found], pa.string()), valid


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
