"""Records of ``__consumer_offsets`` as a coordinator would write them, from the same schemas that they are read by.

That these are Kafka's is for tests/integration/test_offsets_topic_oracle.py to say: there Kafka reads what is written
here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from kgroups.history.arrow import arrow_schema
from kgroups.history.tables import RECORDS
from kgroups.protocol.offsets_topic.record_types import RECORD_TYPES
from kgroups.protocol.record_schemas.encode import encode_struct, encode_value
from kgroups.protocol.record_schemas.spec import NO_TOPIC_ID, versions

Pair = tuple[bytes | None, bytes | None]
"""Key and value."""


def valid_versions(record_type: int) -> range:
    """Of the value."""
    first, last = versions(RECORD_TYPES[record_type].valid)
    return range(first, (last or 0) + 1)


def key_bytes(record_type: int, *fields: Any) -> bytes:
    """With the fields in the order of the schema."""
    kind = RECORD_TYPES[record_type]
    named = {field.name: value for field, value in zip(kind.key, fields, strict=True)}
    return struct.pack(">h", record_type) + encode_struct(kind.key, named, 0, False)


def value_bytes(
    record_type: int, version: int, value: Mapping[str, Any], unknown_tags: Mapping[int, bytes] | None = None
) -> bytes:
    """Tagged fields that ``value`` leaves out, or that are at their default, are not written."""
    return encode_value(RECORD_TYPES[record_type], version, value, unknown_tags)


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
