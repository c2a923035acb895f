"""Encode records by their schemas, the inverse of ``decode``: for records of which a part must not be kept."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from .spec import Field, RecordType, default_of, versions

_NUMBERS: Final = {"int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q"}
_TEXTS: Final[Mapping[str, tuple[str, Callable[[Any], bytes]]]] = {"string": (">h", str.encode), "bytes": (">i", bytes)}


def encode_value(
    kind: RecordType, version: int, value: Mapping[str, Any], unknown_tags: Mapping[int, bytes] | None = None
) -> bytes:
    """Encode the value of a record. Tagged fields that are absent, or at their default, are not written."""
    flexible = version in versions(kind.flexible)
    return struct.pack(">h", version) + encode_struct(kind.value, value, version, flexible, unknown_tags)


def encode_struct(
    fields: Iterable[Field],
    value: Mapping[str, Any],
    version: int,
    flexible: bool,
    unknown_tags: Mapping[int, bytes] | None = None,
) -> bytes:
    """Encode a struct, or a key.

    :param unknown_tags: tagged fields that the schema does not have: tag -> content.
    """
    present = [field for field in fields if version in versions(field.versions)]
    plain = b"".join(_field(field, value[field.name], version, flexible) for field in present if field.tag is None)
    if not flexible:
        return plain
    tags = {
        field.tag: _field(field, value[field.name], version, flexible)
        for field in present
        if field.tag is not None and value.get(field.name, default_of(field)) != default_of(field)
    } | dict(unknown_tags or {})
    written = b"".join(encode_uvarint(tag) + encode_uvarint(len(tags[tag])) + tags[tag] for tag in sorted(tags))
    return plain + encode_uvarint(len(tags)) + written


def encode_uvarint(value: int) -> bytes:
    """Encode an unsigned number, the least significant seven bits first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    if not field.type.startswith("[]"):
        return _one(field, value, version, flexible)
    if value is None:
        return _length(None, ">i", flexible)
    return _length(len(value), ">i", flexible) + b"".join(_one(field, each, version, flexible) for each in value)


def _one(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    kind = field.type.removeprefix("[]")
    if kind in _NUMBERS:
        return struct.pack(_NUMBERS[kind], value)
    if kind == "uuid":
        return base64.urlsafe_b64decode(value + "==")
    if kind in _TEXTS:
        form, encode = _TEXTS[kind]
        data = None if value is None else encode(value)
        return _length(None if data is None else len(data), form, flexible) + (data or b"")
    if not field.nullable or field.type.startswith("[]"):
        return encode_struct(field.fields, value, version, flexible)
    absent, present = (b"\xff", b"\x01") if field.tag is None else (b"\x00", b"\x01")
    return absent if value is None else present + encode_struct(field.fields, value, version, flexible)


def _length(length: int | None, form: str, flexible: bool) -> bytes:
    if flexible:
        return encode_uvarint(0 if length is None else length + 1)
    return struct.pack(form, -1 if length is None else length)
