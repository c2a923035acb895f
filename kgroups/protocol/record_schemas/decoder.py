"""Decode a record's key and value to numbers, strings, bytes, lists, and dictionaries.

A record that cannot be decoded raises an exception with all that is known of it. Extra bytes are an error: the record
was written with another schema.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from kgroups.errors import UndecodableRecord

from .readers import Corrupt, Reader, struct_reader
from .spec import RecordType, versions

_MARKERS: Final = {b"\0\0\0\0": "transaction marker: abort", b"\0\0\0\1": "transaction marker: commit"}
"""The keys of control records, which end a transaction: int16 version 0, int16 type."""


class Record(NamedTuple):
    """A decoded record. A tombstone has neither ``value`` nor ``value_version``."""

    record_type: int
    name: str
    key: dict[str, Any]
    value: dict[str, Any] | None
    value_version: int | None

    @property
    def group(self) -> str:
        return group_of(self.key)


def group_of(key: Mapping[str, Any]) -> str:
    """Return the group of a decoded key: the first field of every type."""
    group: str = next(iter(key.values()))
    return group


class _Codec(NamedTuple):
    """A record type, and its readers."""

    type: RecordType
    key: Reader
    values: Mapping[int, Reader]
    """By version."""


def _codec(record_type: RecordType) -> _Codec:
    valid, flexible = versions(record_type.valid), versions(record_type.flexible)
    last = valid.first if valid.last is None else valid.last
    readers = {at: struct_reader(record_type.value, at, at in flexible) for at in range(valid.first, last + 1)}
    return _Codec(record_type, struct_reader(record_type.key, 0, False), readers)


class RecordDecoder:
    """The decoder of the records of one topic, which have these types."""

    def __init__(self, types: Iterable[RecordType]) -> None:
        self._codecs = {each.id: _codec(each) for each in types}

    def decode(self, key: bytes | None, value: bytes | None) -> Record:
        """Decode a record; ``value`` is ``None`` for a tombstone.

        :raises UndecodableRecord: when this version of kgroups cannot decode it; ``reason`` is short.
        """
        codec, fields = self._decode_key(key)
        record_type = codec.type
        if value is None:
            return Record(record_type.id, record_type.name, fields, None, None)
        version = None
        try:
            version = int.from_bytes(_prefix(value), "big", signed=True)
            reader = codec.values.get(version)
            if reader is None:
                raise Corrupt(f"version {version} is unknown")
            return Record(record_type.id, record_type.name, fields, _whole(reader, value), version)
        except _BROKEN as error:
            reason = f"value: {_reason(error)}"
            found = record_type.id, record_type.name, group_of(fields), version, fields
            raise UndecodableRecord(reason, *found) from None

    def _decode_key(self, key: bytes | None) -> tuple[_Codec, dict[str, Any]]:
        if key is None:
            raise UndecodableRecord("there is no key")
        if key in _MARKERS:  # a key of a record is longer
            raise UndecodableRecord(_MARKERS[key])
        record_type = name = None
        try:
            record_type = int.from_bytes(_prefix(key), "big", signed=True)
            codec = self._codecs.get(record_type)
            if codec is None:
                raise UndecodableRecord(f"record type {record_type} is unknown", record_type)
            name = codec.type.name
            return codec, _whole(codec.key, key)
        except _BROKEN as error:
            raise UndecodableRecord(f"key: {_reason(error)}", record_type, name) from None


_BROKEN: Final = (Corrupt, IndexError, struct.error, UnicodeDecodeError)
"""All that readers raise for invalid bytes."""


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
    return "a string that is not UTF-8" if isinstance(error, UnicodeDecodeError) else "it ends too soon"


def to_json(value: Mapping[str, Any] | None) -> str:
    """Return one line, without spaces; bytes are in base64 (RFC 4648, with padding)."""
    return json.dumps(value, default=_base64, ensure_ascii=False, separators=(",", ":"))


def _base64(value: Any) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} is not a type of decoded records")
    return base64.b64encode(value).decode()
