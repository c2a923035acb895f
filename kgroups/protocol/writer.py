"""Write the fields of requests.

All raise :class:`LocalProtocolError` for a value that Kafka's protocol cannot carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kgroups.errors import LocalProtocolError

from .versions import Api

_LONGEST = 32_767
"""Bytes of a string; of the flexible form too, says Kafka's reader."""


def string(text: str) -> bytes:
    """Of the old form: led by its length in two bytes."""
    data = _utf8(text)
    return len(data).to_bytes(2, "big") + data


def compact_string(text: str) -> bytes:
    """Of the flexible form (KIP-482): led by its length plus one, in as many bytes as that needs."""
    data = _utf8(text)
    return _unsigned_varint(len(data) + 1) + data


def array(elements: Iterable[bytes]) -> bytes:
    """Of the old form: led in four bytes by how many there are."""
    written = list(elements)
    return len(written).to_bytes(4, "big") + b"".join(written)


def compact_array(elements: Iterable[bytes]) -> bytes:
    """Of the flexible form: led by how many there are, plus one."""
    written = list(elements)
    return _unsigned_varint(len(written) + 1) + b"".join(written)


def binary(data: bytes) -> bytes:
    """Of the old form: led by its length in four bytes."""
    return len(data).to_bytes(4, "big") + data


def compact_binary(data: bytes) -> bytes:
    """Of the flexible form: led by its length plus one."""
    return _unsigned_varint(len(data) + 1) + data


def int16(value: int) -> bytes:
    return _signed(value, 2)


def int32(value: int) -> bytes:
    return _signed(value, 4)


def int64(value: int) -> bytes:
    return _signed(value, 8)


class Form(NamedTuple):
    """How a message of one form is written; ``tags`` ends each struct, and there are none."""

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
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
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
        raise LocalProtocolError(f"cannot encode a string of {len(data):,} bytes; Kafka's protocol takes {_LONGEST:,}")
    return data
