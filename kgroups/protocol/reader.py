"""Read the fields of responses.

Rule: what a message announces is never trusted. A count is only counted to, by ``turns``, which looks at the clock, and
each turn reads at least one byte; a length only cuts a slice, which cannot be longer than what is there. Where the
bytes end too soon, the next read or the end of the message tells, so that nothing is checked twice.
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

Seen = list[tuple[bytes, int, T]]
"""Bytes, how many, and what they say."""
_FEW, _SHORT = 8, 256


class Reader:
    """A place (``at``) in the bytes of a message of the old form: lengths of two and of four bytes, no tags.

    A context manager, around all that is read: it raises :class:`RemoteProtocolError`, with the message's name, when
    the bytes end too soon or are not what is read.
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
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, IndexError | struct.error):
            raise RemoteProtocolError(f"undecodable {self.message} (it ends too soon)") from error
        if isinstance(error, ValueError):  # also: no UTF-8
            raise RemoteProtocolError(f"undecodable {self.message} ({error})") from error

    def end(self) -> None:
        """The message ends here, and so do the bytes."""
        left = len(self.data) - self.at
        if left < 0:
            raise IndexError
        if left:
            raise RemoteProtocolError(f"{left} bytes behind the end of {self.message}")

    def inside(self) -> None:
        """What was read so far was there; more may follow."""
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

    def uuid(self) -> int:
        """Its 128 bits, unsigned."""
        start = self.at
        self.at = end = start + 16
        return int.from_bytes(self.data[start:end])

    def string(self) -> str:
        """A text that cannot be null."""
        text = self.nullable_string()
        if text is None:
            raise ValueError("null where a string must be")
        return text

    def nullable_string(self) -> str | None:
        return self._text(self.int16())

    def count(self) -> int:
        """How many elements an array announces that cannot be null."""
        return self._not_null(self.int32())

    def nullable_count(self) -> int | None:
        """The same of an array that can be."""
        return self._nullable(self.int32())

    def int32s(self) -> tuple[int, ...]:
        """An array of numbers that cannot be null."""
        count = self.count()
        start = self.at
        self.at = end = start + 4 * count
        return struct.unpack(f">{count}i", self.data[start:end])

    def binary(self) -> bytes:
        """Bytes that cannot be null."""
        data = self.nullable_bytes()
        if data is None:
            raise ValueError("null where bytes must be")
        return data

    def nullable_bytes(self) -> bytes | None:
        return self._bytes(self.int32())

    def repeated(self, seen: Seen[T], read: Callable[[Self], T]) -> T:
        """What ``read`` reads here; of bytes that are mostly the same, as a group's state and type are, the first few
        kinds are read once and kept in ``seen``: what begins with all of the same bytes says the same."""
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
        """Steps over tagged fields, of which we know none."""

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
            raise ValueError("null where an array must be")
        return count


class FlexibleReader(Reader):
    """The same of the flexible form (KIP-482): lengths plus one, in as many bytes as they need; tags.

    A length is one byte, nearly always: that is read without a further call.
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
        # Nearly always there are none, and a group has three such places.
        if self.data[self.at]:
            for _ in range(self._varint()):
                self._varint()
                self.skip(self._varint())
        else:
            self.at += 1

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
    """At the beginning of a response, in the form of its version."""
    form = FlexibleReader if version >= api.flexible else Reader
    return form(f"{api}Response", data, offset)
