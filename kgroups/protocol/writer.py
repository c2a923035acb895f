"""Write the fields of requests.

All raise :class:`LocalProtocolError` for a value that Kafka's protocol cannot carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kgroups.errors import LocalProtocolError

from .versions import Api

_LONGEST = 32_767
"""Bytes of a string, also in the flexible form: Kafka's reader enforces it."""


def string(text: str) -> bytes:
    """Encode in the old form: the length in two bytes first."""
    data = _utf8(text)
    return len(data).to_bytes(2, "big") + data


def compact_string(text: str) -> bytes:
    """Encode in the flexible form (KIP-482): the length plus one first, as a varint."""
    data = _utf8(text)
    return _unsigned_varint(len(data) + 1) + data


def array(elements: Iterable[bytes]) -> bytes:
    """Encode in the old form: the number of elements in four bytes first."""
    written = list(elements)
    return len(written).to_bytes(4, "big") + b"".join(written)


def compact_array(elements: Iterable[bytes]) -> bytes:
    """Encode in the flexible form: the number of elements plus one first."""
    written = list(elements)
    return _unsigned_varint(len(written) + 1) + b"".join(written)


def binary(data: bytes) -> bytes:
    """Encode in the old form: the length in four bytes first."""
    return len(data).to_bytes(4, "big") + data


def compact_binary(data: bytes) -> bytes:
    """Encode in the flexible form: the length plus one first."""
    return _unsigned_varint(len(data) + 1) + data


def int16(value: int) -> bytes:
    return _signed(value, 2)


def int32(value: int) -> bytes:
    return _signed(value, 4)


def int64(value: int) -> bytes:
    return _signed(value, 8)


class Form(NamedTuple):
    """The encoders of one form of messages; ``tags`` ends each struct, without a tagged field."""

    string: Callable[[str], bytes]
    array: Callable[[Iterable[bytes]], bytes]
    binary: Callable[[bytes], bytes]
    null_string: bytes
    null_array: bytes
    tags: bytes


_OLD = Form(string, array, binary, b"\xff\xff", b"\xff\xff\xff\xff", b"")
_FLEXIBLE = Form(compact_string, compact_array, compact_binary, b"\0", b"\0", b"\0")


def form_of(api: Api, version: int) -> Form:
    return _FLEXIBLE if version >= api.flexible else _OLD


def _unsigned_varint(value: int) -> bytes:
    """Encode seven bits per byte, the lowest first; the highest bit is set if more bytes follow."""
    head = b""
    while value >= 0x80:
        head += bytes((value & 0x7F | 0x80,))
        value >>= 7
    return head + bytes((value,))


def _signed(value: int, size: int) -> bytes:
    try:
        return value.to_bytes(size, "big", signed=True)
    except OverflowError as error:
        raise LocalProtocolError(f"cannot encode {value:,} in {size} bytes") from error


def _utf8(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise LocalProtocolError(f"cannot encode {text!r}: {error}") from error
    if len(data) > _LONGEST:
        raise LocalProtocolError(f"cannot encode a string of {len(data):,} bytes; the maximum is {_LONGEST:,}")
    return data
