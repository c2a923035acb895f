"""Read the fields of responses.

Announced sizes are never trusted. A count only limits a loop over ``turns``, which checks the clock, and each turn
reads at least one byte; a length only cuts a slice, which cannot be longer than the data. If the bytes end too soon,
the next read or the end of the message detects it, so that nothing is checked twice.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self, TypeVar

from kgroups.errors import RemoteProtocolError

from .budget import current_budget
from .versions import Api

T = TypeVar("T")

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_FLOAT64 = struct.Struct(">d")

Seen = list[tuple[bytes, int, T]]
"""Bytes, their number, and their decoded value."""
_FEW, _SHORT = 8, 256


class Reader:
    """A position (``at``) in a message of the old form: lengths of two or four bytes, no tagged fields.

    As a context manager around all reads, it raises :class:`RemoteProtocolError` with the message's name when the bytes
    end too soon or are invalid.
    """

    __slots__ = ("at", "data", "message", "turns")

    def __init__(self, message: str, data: bytes, at: int) -> None:
        self.message = message
        self.data = data
        self.at = at
        self.turns: Callable[[int], Iterable[int]] = current_budget().turns

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, IndexError | struct.error):
            raise RemoteProtocolError(f"undecodable {self.message} (it ends too soon)") from error
        if isinstance(error, ValueError):  # also: not UTF-8
            raise RemoteProtocolError(f"undecodable {self.message} ({error})") from error

    def end(self) -> None:
        """Check that the bytes end where the message ends.

        :raises RemoteProtocolError: when there are more bytes.
        """
        left = len(self.data) - self.at
        if left < 0:
            raise IndexError
        if left:
            raise RemoteProtocolError(f"{left} bytes after the end of {self.message}")

    def inside(self) -> None:
        """Check that all that was read was within the bytes; more may follow."""
        if self.at > len(self.data):
            raise IndexError

    def skip(self, size: int) -> None:
        self.at += size

    def int8(self) -> int:
        value = self.data[self.at]
        self.at += 1
        return value if value < 0x80 else value - 0x100

    def int16(self) -> int:
        (value,) = _INT16.unpack_from(self.data, self.at)
        self.at += 2
        return int(value)

    def int32(self) -> int:
        (value,) = _INT32.unpack_from(self.data, self.at)
        self.at += 4
        return int(value)

    def int64(self) -> int:
        (value,) = _INT64.unpack_from(self.data, self.at)
        self.at += 8
        return int(value)

    def float64(self) -> float:
        (value,) = _FLOAT64.unpack_from(self.data, self.at)
        self.at += 8
        return float(value)

    def uuid(self) -> int:
        """Read a UUID as an unsigned number of 128 bits."""
        start = self.at
        self.at = end = start + 16
        return int.from_bytes(self.data[start:end])

    def string(self) -> str:
        """Read a string that must not be null."""
        text = self.nullable_string()
        if text is None:
            raise ValueError("null instead of a string")
        return text

    def nullable_string(self) -> str | None:
        return self._text(self.int16())

    def count(self) -> int:
        """Read the announced number of elements of an array that must not be null."""
        return self._not_null(self.int32())

    def nullable_count(self) -> int | None:
        """Read the announced number of elements of an array, ``None`` if it is null."""
        return self._nullable(self.int32())

    def int32s(self) -> tuple[int, ...]:
        """Read an array of numbers that must not be null."""
        count = self.count()
        start = self.at
        self.at = end = start + 4 * count
        return struct.unpack(f">{count}i", self.data[start:end])

    def binary(self) -> bytes:
        """Read bytes that must not be null."""
        data = self.nullable_bytes()
        if data is None:
            raise ValueError("null instead of bytes")
        return data

    def nullable_bytes(self) -> bytes | None:
        return self._bytes(self.int32())

    def repeated(self, seen: Seen[T], read: Callable[[Self], T]) -> T:
        """Read a value with ``read``, or take it from ``seen`` if the bytes start with those of a value in it.

        For values that are mostly the same, such as a group's state and type. ``seen`` keeps the first few.
        """
        data, at = self.data, self.at
        for known, size, value in seen:
            if data[at : at + size] == known:
                self.at = at + size
                return value
        value = read(self)
        if len(seen) < _FEW and self.at - at <= _SHORT:  # long ones would be compared at every element
            self.inside()
            seen.append((data[at : self.at], self.at - at, value))
        return value

    def tags(self) -> None:
        """Skip tagged fields: kgroups uses only those of :meth:`tagged`."""

    def tagged(self) -> dict[int, int]:
        """Skip tagged fields; return the tag of each, with the place where its value begins."""
        return {}

    def _bytes(self, size: int) -> bytes | None:
        if self._nullable(size) is None:
            return None
        start = self.at
        self.at = end = start + size
        return self.data[start:end]

    def _text(self, size: int) -> str | None:
        if size < 0:
            if size < -1:
                raise ValueError(f"a length of {size}")
            return None
        start = self.at
        self.at = end = start + size
        return self.data[start:end].decode()

    @staticmethod
    def _nullable(size: int) -> int | None:
        if size < -1:
            raise ValueError(f"a length of {size}")
        return None if size < 0 else size

    @staticmethod
    def _not_null(count: int) -> int:
        if count < 0:
            raise ValueError("null instead of an array")
        return count


class FlexibleReader(Reader):
    """A position in a message of the flexible form (KIP-482): lengths plus one, as varints; tagged fields.

    A length has one byte, nearly always: that is read without a further call.
    """

    __slots__ = ()

    def string(self) -> str:
        size = self.data[self.at]
        if 0 < size < 0x80:
            start = self.at + 1
            self.at = end = self.at + size
            return self.data[start:end].decode()
        return super().string()

    def nullable_string(self) -> str | None:
        return self._text(self._varint() - 1)

    def count(self) -> int:
        size = self.data[self.at]
        if 0 < size < 0x80:
            self.at += 1
            return size - 1
        return self._not_null(self._varint() - 1)

    def nullable_count(self) -> int | None:
        return self._nullable(self._varint() - 1)

    def binary(self) -> bytes:
        size = self.data[self.at]
        if 0 < size < 0x80:
            start = self.at + 1
            self.at = end = self.at + size
            return self.data[start:end]
        return super().binary()

    def nullable_bytes(self) -> bytes | None:
        return self._bytes(self._varint() - 1)

    def tags(self) -> None:
        # There are nearly always none, and a group has three such places.
        if self.data[self.at]:
            for _ in range(self._varint()):
                self._varint()
                self.skip(self._varint())
        else:
            self.at += 1

    def tagged(self) -> dict[int, int]:
        places = {}
        for _ in self.turns(self._varint()):
            tag, size = self._varint(), self._varint()
            places[tag] = self.at
            self.skip(size)
        self.inside()
        return places

    def _varint(self) -> int:
        data, at = self.data, self.at
        value = data[at]
        at += 1
        if value >= 0x80:
            value, shift = value & 0x7F, 7
            while (byte := data[at]) >= 0x80:
                value |= (byte & 0x7F) << shift
                shift += 7
                at += 1
                if shift > 28:
                    raise ValueError("a length of more than five bytes")
            value |= byte << shift
            at += 1
        self.at = at
        return value


def reader_of(api: Api, version: int, data: bytes, offset: int) -> Reader:
    """Return a reader at the start of a response, in the form of its version."""
    form = FlexibleReader if version >= api.flexible else Reader
    return form(f"{api}Response", data, offset)
