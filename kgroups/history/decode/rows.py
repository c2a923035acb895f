"""Decode records of any type one by one: the columns of DECODED that follow the columns of the record itself.

This module is the reference: for the records that ``commits`` decodes, its result must be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from kgroups.errors import UndecodableRecord
from kgroups.protocol.offsets_topic import decode
from kgroups.protocol.record_schemas import NO_TOPIC_ID, Record, to_json

from ..arrow import arrow_schema
from ..tables import DECODED, RECORDS
from .facts import micros

SCHEMA: Final = pa.schema(list(arrow_schema(DECODED))[len(RECORDS.columns) :])
"""The columns that decoding adds to a record."""

COMMIT_TYPES: Final = frozenset({0, 1})
"""Record types of commits, which are stored in columns, not in ``body``."""


class Row(NamedTuple):
    """The columns of :data:`SCHEMA`, in its order; times are microseconds since 1970."""

    record_type: int | None = None
    record_name: str | None = None
    value_version: int | None = None
    tombstone: bool = False
    group: str | None = None
    topic: str | None = None
    partition: int | None = None
    committed_offset: int | None = None
    leader_epoch: int | None = None
    metadata: str | None = None
    commit_time: int | None = None
    expire_time: int | None = None
    topic_id: str | None = None
    body: str | None = None
    error: str | None = None


def decode_row(key: bytes | None, value: bytes | None) -> Row:
    """Decode one record."""
    try:
        record = decode(key, value)
    except UndecodableRecord as error:
        # A transaction marker has no record type, and is not a tombstone.
        tombstone = value is None and error.record_type is not None
        fields = (error.key if error.record_type in COMMIT_TYPES else None) or {}
        row = Row(error.record_type, error.name, error.value_version, tombstone, error.group, error=error.cause)
        return row._replace(topic=fields.get("topic"), partition=fields.get("partition"))
    if record.record_type in COMMIT_TYPES:
        return _commit(record)
    body = to_json({"key": record.key, "value": record.value})
    row = Row(record.record_type, record.name, record.value_version, record.value is None, record.group)
    return row._replace(body=body)


def _commit(record: Record) -> Row:
    value: dict[str, Any] = record.value or {}
    epoch, topic_id = value.get("leaderEpoch", -1), value.get("topicId", NO_TOPIC_ID)
    return Row(
        record.record_type,
        record.name,
        record.value_version,
        record.value is None,
        record.group,
        record.key["topic"],
        record.key["partition"],
        value.get("offset"),
        None if epoch == -1 else epoch,
        value.get("metadata"),
        micros(value.get("commitTimestamp")),
        micros(value.get("expireTimestamp")),
        None if topic_id == NO_TOPIC_ID else topic_id,
    )


def decode_rows(records: Iterable[tuple[bytes | None, bytes | None]]) -> pa.RecordBatch:
    """Decode keys and values into a batch of :data:`SCHEMA`, in their order."""
    return to_batch([decode_row(key, value) for key, value in records], SCHEMA)


def to_batch(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch of rows, which have their values in the order of the schema's columns."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
