"""Check the lengths in a message before kio reads it.

kio's native reader reserves eight bytes for each element that an array announces, before it reads the first. Where the
system refuses the memory, the process is aborted. kio also accepts null arrays that Kafka's definition does not allow.
"""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from kgroups.errors import RemoteProtocolError

_FIXED = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "error_code": 2,
    "int32": 4,
    "uint32": 4,
    "timedelta_i32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "timedelta_i64": 8,
    "datetime_i64": 8,
    "uuid": 16,
}
"""Kafka type -> bytes of each value."""


class _Part(NamedTuple):
    """A field: a value or an array of ``type``, which is the name of a Kafka type or an entity type."""

    type: Any
    array: bool
    optional: bool
    tag: int | None


@cache
def _parts(entity_type: Any) -> tuple[_Part, ...]:
    return tuple(map(_part, fields(entity_type)))


def _part(field: Field[Any]) -> _Part:
    declared: Any = field.type
    optional = get_origin(declared) in (UnionType, Union)
    if optional:
        declared = next(each for each in get_args(declared) if each is not type(None))
    array = get_origin(declared) is tuple
    if array:
        declared = get_args(declared)[0]
    kafka_type = declared if is_dataclass(declared) else field.metadata["kafka_type"]
    return _Part(kafka_type, array, optional, field.metadata.get("tag"))


def check_bounds(entity_type: Any, data: bytes, at: int) -> int:
    """Return the offset of the first byte after an entity.

    :raises RemoteProtocolError: when an array announces more elements than there are bytes.
    :raises IndexError: when the bytes end too soon.
    """
    # The client ID in a request's header has a length of two bytes in every version.
    flexible = entity_type.__flexible__ and entity_type.__name__ != "RequestHeader"
    parts = _parts(entity_type)
    for part in parts:
        if part.tag is None:
            at = _skip(part, data, at, flexible)
    if entity_type.__flexible__:
        at = _tags({part.tag: part for part in parts if part.tag is not None}, data, at)
    if at > len(data):
        raise IndexError("the message ends too soon")
    return at


def _skip(part: _Part, data: bytes, at: int, flexible: bool) -> int:
    if not part.array:
        return _one(part, data, at, flexible)
    count, at = _length(data, at, 4, flexible)
    if not (-1 if part.optional else 0) <= count <= len(data) - at:
        raise RemoteProtocolError(f"an array of {count} elements is announced in {len(data) - at} bytes")
    if part.type in _FIXED:
        return at + max(count, 0) * _FIXED[part.type]
    element = part._replace(optional=False)
    for _ in range(count):
        at = _one(element, data, at, flexible)
    return at


def _one(part: _Part, data: bytes, at: int, flexible: bool) -> int:
    if not isinstance(part.type, str):
        if part.optional:  # a nullable struct starts with a byte (KIP-893)
            at += 1
            if data[at - 1] >= 0x80:
                return at
        return check_bounds(part.type, data, at)
    if part.type in _FIXED:
        return at + _FIXED[part.type]
    size, at = _length(data, at, 2 if part.type == "string" else 4, flexible)
    return at + max(size, 0)


def _tags(tagged: dict[int, _Part], data: bytes, at: int) -> int:
    """Step over the tagged fields, and check those that kio reads."""
    count, at = _varint(data, at)
    for _ in range(count):
        tag, at = _varint(data, at)
        size, at = _varint(data, at)
        end = at + size
        part = tagged.get(tag)
        if part and (end > len(data) or (_structured(part) and _skip(part, data, at, True) != end)):
            raise RemoteProtocolError(f"tagged field {tag} does not fit its length")
        at = end
    return at


def _structured(part: _Part) -> bool:
    return part.array or not isinstance(part.type, str)


def _length(data: bytes, at: int, width: int, flexible: bool) -> tuple[int, int]:
    """Return the length of a string, of bytes, or of an array (-1: null), and the offset after it."""
    if flexible:
        size, at = _varint(data, at)
        return size - 1, at
    return int.from_bytes(data[at : at + width], "big", signed=True), at + width


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise RemoteProtocolError("a length of more than nine bytes")
