"""Records of ``__consumer_offsets`` as a coordinator would write them, from the same schemas that they are read by.

That these are Kafka's is for tests/integration/test_offsets_topic_oracle.py to say: there Kafka reads what is written
here.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from kgroups.pipeline.tables import RECORDS, arrow_schema
from kgroups.protocol.offsets_topic.record_types import RECORD_TYPES
from kgroups.protocol.offsets_topic.spec import NO_TOPIC_ID, Field, default_of, versions

Pair = tuple[bytes | None, bytes | None]
"""Key and value."""

_NUMBERS = {"int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q"}


def valid_versions(record_type: int) -> range:
    """Of the value."""
    first, last = versions(RECORD_TYPES[record_type].valid)
    return range(first, (last or 0) + 1)


def key_bytes(record_type: int, *fields: Any) -> bytes:
    """With the fields in the order of the schema."""
    kind = RECORD_TYPES[record_type]
    named = {field.name: value for field, value in zip(kind.key, fields, strict=True)}
    return struct.pack(">h", record_type) + _struct(kind.key, named, 0, False)


def value_bytes(
    record_type: int, version: int, value: Mapping[str, Any], unknown_tags: Mapping[int, bytes] | None = None
) -> bytes:
    """Tagged fields that ``value`` leaves out, or that are at their default, are not written."""
    kind = RECORD_TYPES[record_type]
    flexible = version in versions(kind.flexible)
    return struct.pack(">h", version) + _struct(kind.value, value, version, flexible, unknown_tags)


def commit_key(group: str = "g", topic: str = "t", partition: int = 0) -> bytes:
    return key_bytes(1, group, topic, partition)


def commit_value(version: int = 4, **fields: Any) -> bytes:
    """Of offset 42, if not said otherwise."""
    value = {"offset": 42, "leaderEpoch": 7, "metadata": "", "commitTimestamp": 1_760_000_000_000}
    return value_bytes(1, version, value | {"expireTimestamp": 1_760_086_400_000, "topicId": NO_TOPIC_ID} | fields)


def record_batch(pairs: Iterable[Pair]) -> pa.RecordBatch:
    """A batch of RECORDS; the n-th is at offset n, and was written n milliseconds after 2025-10-09 08:53:20."""
    pairs = list(pairs)
    count = len(pairs)
    columns = [
        [3] * count,
        range(count),
        [(1_760_000_000_000 + number) * 1000 for number in range(count)],
        [key for key, _ in pairs],
        [value for _, value in pairs],
    ]
    schema = arrow_schema(RECORDS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _struct(
    fields: Iterable[Field],
    value: Mapping[str, Any],
    version: int,
    flexible: bool,
    unknown_tags: Mapping[int, bytes] | None = None,
) -> bytes:
    present = [field for field in fields if version in versions(field.versions)]
    plain = b"".join(_field(field, value[field.name], version, flexible) for field in present if field.tag is None)
    if not flexible:
        return plain
    tags = {
        field.tag: _field(field, value[field.name], version, flexible)
        for field in present
        if field.tag is not None and value.get(field.name, default_of(field)) != default_of(field)
    } | dict(unknown_tags or {})
    written = b"".join(uvarint(tag) + uvarint(len(tags[tag])) + tags[tag] for tag in sorted(tags))
    return plain + uvarint(len(tags)) + written


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
        return _struct(field.fields, value, version, flexible)
    absent, present = (b"\xff", b"\x01") if field.tag is None else (b"\x00", b"\x01")
    return absent if value is None else present + _struct(field.fields, value, version, flexible)


_TEXTS: dict[str, tuple[str, Callable[[Any], bytes]]] = {"string": (">h", str.encode), "bytes": (">i", bytes)}


def _length(length: int | None, form: str, flexible: bool) -> bytes:
    if flexible:
        return uvarint(0 if length is None else length + 1)
    return struct.pack(form, -1 if length is None else length)


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
