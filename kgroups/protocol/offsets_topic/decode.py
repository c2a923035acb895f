"""A record's key and value as plain things: numbers, texts, bytes, lists, dictionaries.

What cannot be decoded is told by one exception, with all that is known of the record so far. Bytes that are left over
are an error: a schema that does not account for all of them is not the schema they were written by.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kgroups.errors import UndecodableRecord

from .readers import Corrupt, Reader, struct_reader
from .record_types import RECORD_TYPES
from .spec import RecordType, versions

_MARKERS: Final = {b"\0\0\0\0": "transaction marker: abort", b"\0\0\0\1": "transaction marker: commit"}
"""The keys of control records, by which brokers end a transaction: int16 version 0, int16 type."""


class Record(NamedTuple):
    """What a record says. A tombstone has neither ``value`` nor ``value_version``."""

    record_type: int
    name: str
    key: dict[str, Any]
    value: dict[str, Any] | None
    value_version: int | None

    @property
    def group(self) -> str:
        return group_of(self.key)


def group_of(key: Mapping[str, Any]) -> str:
    """The group that a decoded key names: the first field of them all."""
    group: str = next(iter(key.values()))
    return group


class _Codec(NamedTuple):
    """A record type, and how to read it."""

    type: RecordType
    key: Reader
    values: Mapping[int, Reader]
    """By version."""


def _codec(kind: RecordType) -> _Codec:
    valid, flexible = versions(kind.valid), versions(kind.flexible)
    last = valid.first if valid.last is None else valid.last
    readers = {at: struct_reader(kind.value, at, at in flexible) for at in range(valid.first, last + 1)}
    return _Codec(kind, struct_reader(kind.key, 0, False), readers)


_CODECS: Final = {kind.id: _codec(kind) for kind in RECORD_TYPES.values()}


def decode(key: bytes | None, value: bytes | None) -> Record:
    """What the record says; ``value`` is ``None`` for a tombstone.

    :raises UndecodableRecord: when it says nothing that this version of kgroups knows; ``reason`` in a few words.
    """
    codec, fields = _decode_key(key)
    kind = codec.type
    if value is None:
        return Record(kind.id, kind.name, fields, None, None)
    version = None
    try:
        version = int.from_bytes(_prefix(value), "big", signed=True)
        reader = codec.values.get(version)
        if reader is None:
            raise Corrupt(f"version {version} is unknown")
        return Record(kind.id, kind.name, fields, _whole(reader, value), version)
    except _BROKEN as error:
        raise UndecodableRecord(f"value: {_reason(error)}", kind.id, kind.name, group_of(fields), version) from None


def _decode_key(key: bytes | None) -> tuple[_Codec, dict[str, Any]]:
    if key is None:
        raise UndecodableRecord("there is no key")
    if key in _MARKERS:  # no key of type 0 is that short
        raise UndecodableRecord(_MARKERS[key])
    record_type = name = None
    try:
        record_type = int.from_bytes(_prefix(key), "big", signed=True)
        codec = _CODECS.get(record_type)
        if codec is None:
            raise UndecodableRecord(f"record type {record_type} is unknown", record_type)
        name = codec.type.name
        return codec, _whole(codec.key, key)
    except _BROKEN as error:
        raise UndecodableRecord(f"key: {_reason(error)}", record_type, name) from None


_BROKEN: Final = (Corrupt, IndexError, struct.error, UnicodeDecodeError)
"""All that readers raise on bytes that they were not made for."""


def _prefix(data: bytes) -> bytes:
    if len(data) < 2:
        raise Corrupt("too short for a version")
    return data[:2]


def _whole(reader: Reader, data: bytes) -> dict[str, Any]:
    fields: dict[str, Any]
    fields, end = reader(data, 2)
    if end != len(data):
        raise Corrupt(f"{len(data) - end} bytes are left over")
    return fields


def _reason(error: Exception) -> str:
    if isinstance(error, Corrupt):
        return str(error)
    return "a text that is no UTF-8" if isinstance(error, UnicodeDecodeError) else "it ends too soon"
