"""Compile schemas to reader functions, one per schema and version.

Every reader takes the bytes and an offset, and returns a value and the offset after it. An announced length is checked
against the number of bytes before memory is reserved for it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from struct import Struct
from typing import Any

from .spec import Field, default_of, versions

Reader = Callable[[bytes, int], tuple[Any, int]]


_LONGEST_TEXT = 0x7FFF
"""Bytes; the limit of brokers, also where the type of the length allows more."""


class Corrupt(Exception):
    """The bytes do not match the schema, for the reason in the message. Used inside this package only."""


def _number(form: str) -> Reader:
    unpack, size = Struct(form).unpack_from, Struct(form).size

    def read(data: bytes, at: int) -> tuple[int, int]:
        return unpack(data, at)[0], at + size

    return read


def uuid_text(data: bytes) -> str:
    """Format sixteen bytes as Kafka's ``Uuid.toString()``."""
    return base64.urlsafe_b64encode(data)[:22].decode()


def read_uvarint(data: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned number of at most five bytes, the least significant seven bits first."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 28:
            raise Corrupt("a length of more than five bytes")


_int8, _int16, _int32 = _number(">b"), _number(">h"), _number(">i")


def _compact(data: bytes, at: int) -> tuple[int, int]:
    value, at = read_uvarint(data, at)
    return value - 1, at


def _slice(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise Corrupt(f"{size} bytes are announced where {len(data) - at} are left")
    return data[at : at + size]


def _uuid(data: bytes, at: int) -> tuple[str, int]:
    return uuid_text(_slice(data, at, 16)), at + 16


def _sized(length: Reader, convert: Callable[[bytes], Any], nullable: bool) -> Reader:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        size, at = length(data, at)
        if size < 0:
            _check_null(size, nullable)
            return None, at
        return convert(_slice(data, at, size)), at + size

    return read


def _array(length: Reader, element: Reader, nullable: bool) -> Reader:
    def read(data: bytes, at: int) -> tuple[Any, int]:
        count, at = length(data, at)
        if count < 0:
            _check_null(count, nullable)
            return None, at
        if count > len(data) - at:  # no element is shorter than a byte
            raise Corrupt(f"an array of {count} elements is announced in {len(data) - at} bytes")
        found = []
        for _ in range(count):
            value, at = element(data, at)
            found.append(value)
        return found, at

    return read


def _check_null(length: int, nullable: bool) -> None:
    if length != -1:
        raise Corrupt(f"a length of {length}")
    if not nullable:
        raise Corrupt("null where it is not allowed")


def _nullable_struct(mark: Reader, present: int, struct: Reader) -> Reader:
    """Return the reader of a struct after a mark, which is at least ``present`` if the struct follows."""

    def read(data: bytes, at: int) -> tuple[Any, int]:
        value, at = mark(data, at)
        return struct(data, at) if value >= present else (None, at)

    return read


def _text(data: bytes) -> str:
    if len(data) > _LONGEST_TEXT:
        raise Corrupt(f"a text of {len(data)} bytes")
    return data.decode()


_NUMBERS = {
    "int8": _int8,
    "int16": _int16,
    "uint16": _number(">H"),
    "int32": _int32,
    "int64": _number(">q"),
    "uuid": _uuid,
}


def _reader(field: Field, version: int, flexible: bool) -> Reader:
    many = field.type.startswith("[]")
    name = field.type.removeprefix("[]")
    nullable = field.nullable and not many
    one: Reader
    if name in _NUMBERS:
        one = _NUMBERS[name]
    elif name == "string":
        one = _sized(_compact if flexible else _int16, _text, nullable)
    elif name == "bytes":
        one = _sized(_compact if flexible else _int32, bytes, nullable)
    else:
        one = struct_reader(field.fields, version, flexible)
        if nullable:  # Kafka marks a nullable struct with a byte, -1 or 1; a tagged one with an unsigned number, 0 or 1
            one = _nullable_struct(_int8, 0, one) if field.tag is None else _nullable_struct(read_uvarint, 1, one)
    return _array(_compact if flexible else _int32, one, field.nullable) if many else one


@cache
def struct_reader(fields: tuple[Field, ...], version: int, flexible: bool) -> Reader:
    """Return the reader of a struct, a key, or a value, which returns a dictionary in the order of the fields.

    A tagged field that is not written has its default; an unknown one is skipped.

    :raises Corrupt: (the reader) when the bytes do not match; ``IndexError``, ``struct.error``, and
        ``UnicodeDecodeError`` when they end too soon or are not UTF-8.
    """
    present = [field for field in fields if version in versions(field.versions)]
    plain = [(field.name, _reader(field, version, flexible)) for field in present if field.tag is None]
    tagged = {field.tag: (field.name, _reader(field, version, flexible)) for field in present if field.tag is not None}
    optional = [field for field in present if field.tag is not None]

    def read(data: bytes, at: int) -> tuple[dict[str, Any], int]:
        found = {}
        for name, reader in plain:
            found[name], at = reader(data, at)
        if flexible:
            found.update({field.name: default_of(field) for field in optional})
            at = _tags(data, at, tagged, found)
        return found, at

    return read


def _tags(data: bytes, at: int, tagged: Mapping[int, tuple[str, Reader]], found: dict[str, Any]) -> int:
    count, at = read_uvarint(data, at)
    for _ in range(count):
        tag, at = read_uvarint(data, at)
        size, at = read_uvarint(data, at)
        end = at + size
        if end > len(data):
            raise Corrupt(f"tagged field {tag} of {size} bytes where {len(data) - at} are left")
        if tag in tagged:
            name, reader = tagged[tag]
            found[name], at = reader(data, at)
            if at != end:
                raise Corrupt(f"tagged field {tag} does not fit its length")
        at = end
    return at
