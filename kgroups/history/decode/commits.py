"""Offset commits, decoded by column: nearly all records of the topic, and nearly all of the decoding time.

Strategy: the position of each field can be computed for all rows at once, in every version of the value: fields are
before the metadata, or after it by the metadata's length. Keys repeat, so each distinct one is decoded once. Rule: no
byte is assumed. A row with any unexpected byte is *odd*: ``rows`` decodes it, and reports what is wrong.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgroups.protocol.offsets_topic import RECORD_TYPES
from kgroups.protocol.record_schemas import NO_TOPIC_ID
from kgroups.protocol.record_schemas.readers import uuid_text

from .binary import Bytes, Flags, Integers, decode_utf8
from .facts import LAST_MS
from .rows import COMMIT_TYPES, SCHEMA

_LONGEST: Final = 0x7FFF
"""Maximum length of Kafka's strings, in bytes."""

_LENGTH_AT: Final = np.array([10, 10, 10, 14, 14])
"""Position of the metadata's length, by version of the value."""
_BYTES_AFTER: Final = np.array([8, 16, 8, 8, 8])
"""Number of bytes after the metadata (in v4 before the tagged fields), by version of the value."""
_NEWEST: Final = len(_BYTES_AFTER) - 1
_FLEXIBLE: Final = 4
"""The version with tagged fields."""

_NAMES: Final = pa.array([RECORD_TYPES[number].name for number in sorted(COMMIT_TYPES)], pa.string())


def decode_commits(keys: pa.BinaryArray, values: pa.BinaryArray) -> tuple[pa.RecordBatch, Flags]:
    """Return a batch of the columns that decoding adds (:data:`~.rows.SCHEMA`), and which of its rows are odd.

    The values of odd rows are meaningless.
    """
    key = _Keys.of(keys)
    tombstone = values.is_null().to_numpy(zero_copy_only=False)
    value = _Values.of(values, key.record_types)
    metadata, readable = decode_utf8(value.metadata)
    odd = ~key.valid | (~tombstone & ~(value.valid & readable))
    size = len(keys)
    nothing = pa.nulls(size, pa.string())
    columns = {
        "record_type": pa.array(key.record_types.astype(np.int16)),
        "record_name": _NAMES.take(pa.array(np.minimum(key.record_types, 1))),
        "value_version": pa.array(value.versions.astype(np.int16), mask=tombstone),
        "tombstone": pa.array(tombstone),
        "group": key.groups,
        "topic": key.topics,
        "partition": pa.array(key.partitions.astype(np.int32)),
        "committed_offset": pa.array(value.offsets, mask=tombstone),
        "leader_epoch": pa.array(value.leader_epochs.astype(np.int32), mask=tombstone | (value.leader_epochs == -1)),
        "metadata": pc.if_else(pa.array(tombstone), pa.scalar(None, pa.string()), metadata)
        if tombstone.any()
        else metadata,
        "commit_time": _times(value.commit_times, tombstone),
        "expire_time": _times(value.expire_times, tombstone),
        "topic_id": value.topic_ids,
        "body": nothing,
        "error": nothing,
    }
    return pa.RecordBatch.from_arrays([columns[field.name] for field in SCHEMA], schema=SCHEMA), odd


class _Keys(NamedTuple):
    """The keys of a batch; if one is not ``valid``, its other columns are meaningless."""

    record_types: Integers
    groups: pa.StringArray
    topics: pa.StringArray
    partitions: Integers
    valid: Flags

    @classmethod
    def of(cls, column: pa.BinaryArray) -> _Keys:
        encoded = column.dictionary_encode()
        # Rows without a key get the first distinct key, if there is one, and are not valid.
        distinct = encoded.dictionary if len(encoded.dictionary) else pa.array([b""], pa.binary())
        indices = encoded.indices.fill_null(0)
        rows = indices.to_numpy()
        decoded = cls._decode(Bytes(distinct))
        present = column.is_valid().to_numpy(zero_copy_only=False)
        return cls(
            decoded.record_types[rows],
            decoded.groups.take(indices),
            decoded.topics.take(indices),
            decoded.partitions[rows],
            decoded.valid[rows] & present,
        )

    @classmethod
    def _decode(cls, data: Bytes) -> _Keys:
        at = data.starts
        record_types, group_sizes = data.int16(at), data.int16(at + 2)
        valid = (record_types >= 0) & (record_types <= 1) & (group_sizes >= 0)
        group_sizes = np.where(valid, group_sizes, 0)
        topic_sizes = data.int16(at + 4 + group_sizes)
        valid &= (topic_sizes >= 0) & (at + 10 + group_sizes + topic_sizes == data.ends)
        group_sizes, topic_sizes = np.where(valid, group_sizes, 0), np.where(valid, topic_sizes, 0)
        groups, groups_valid = decode_utf8(data.slices(at + 4, group_sizes))
        topics, topics_valid = decode_utf8(data.slices(at + 6 + group_sizes, topic_sizes))
        partitions = data.int32(at + 6 + group_sizes + topic_sizes)
        return cls(np.where(valid, record_types, 0), groups, topics, partitions, valid & groups_valid & topics_valid)


class _Values(NamedTuple):
    """The values of a batch; if one is not ``valid``, its other columns are meaningless."""

    versions: Integers
    offsets: Integers
    leader_epochs: Integers
    metadata: pa.BinaryArray
    commit_times: Integers
    expire_times: Integers
    topic_ids: pa.StringArray
    valid: Flags

    @classmethod
    def of(cls, column: pa.BinaryArray, record_types: Integers) -> _Values:
        data = Bytes(column)
        at = data.starts
        versions = data.int16(at)
        # Record type 0 has version 0 only.
        valid = (data.ends - at >= 2) & (versions >= 0) & (versions <= np.where(record_types == 0, 0, _NEWEST))
        versions = np.where(valid, versions, 0)
        sizes, metadata_at = _metadata(data, versions)
        valid &= (sizes >= 0) & (sizes <= _LONGEST)
        after = metadata_at + np.where(valid, sizes, 0)
        end = after + _BYTES_AFTER[versions]
        fits, topic_ids = _topic_ids(data, end, versions == _FLEXIBLE)
        valid &= fits
        return cls(
            versions,
            data.int64(at + 2),
            np.where(versions >= 3, data.int32(at + 10), -1) if versions.max() >= 3 else np.full(len(at), -1),
            data.slices(metadata_at, np.where(valid, sizes, 0)),
            data.int64(after),
            np.where(versions == 1, data.int64(after + 8), -1) if (versions == 1).any() else np.full(len(at), -1),
            topic_ids,
            valid,
        )


def _metadata(data: Bytes, versions: Integers) -> tuple[Integers, Integers]:
    """Return the length of each row's metadata in bytes, and its start."""
    at = data.starts + _LENGTH_AT[versions]
    flexible = versions == _FLEXIBLE
    if not flexible.any():
        return data.int16(at), at + 2
    # A length of one or two bytes, seven bits each; a row with a longer one does not fit, so it is odd.
    first, second = data.uint8(at), data.uint8(at + 1)
    long = first >= 0x80
    compact = np.where(long, (first & 0x7F) | (second << 7), first) - 1
    compact[long & (second >= 0x80)] = -1
    if flexible.all():
        return compact, at + 1 + long
    return np.where(flexible, compact, data.int16(at)), at + np.where(flexible, 1 + long, 2)


def _topic_ids(data: Bytes, at: Integers, flexible: Flags) -> tuple[Flags, pa.StringArray]:
    """Return whether each value ends as expected, and its topic ID.

    It must end at ``at``, or, if it is flexible, after its tagged fields. The ID is null if absent or all zeros.
    """
    ends = data.ends
    none: pa.StringArray = pa.nulls(len(at), pa.string())
    if not flexible.any():
        return at == ends, none
    # No tagged fields: one byte, 0. Topic ID: one field, tag 0, of 16 bytes. Anything else is odd.
    count = data.uint8(at)
    empty = flexible & (count == 0) & (at + 1 == ends)
    with_id = flexible & (at + 19 == ends) & (count == 1) & (data.uint8(at + 1) == 0) & (data.uint8(at + 2) == 16)
    fits = np.where(flexible, empty | with_id, at == ends)
    return fits, _uuid_texts(data.uuids(at + 3), with_id) if with_id.any() else none


def _uuid_texts(uuids: pa.FixedSizeBinaryArray, present: Flags) -> pa.StringArray:
    encoded = uuids.dictionary_encode()  # there are few distinct topics
    names = [uuid_text(each) for each in encoded.dictionary.to_pylist()]
    known = pa.array([None if name == NO_TOPIC_ID else name for name in names], pa.string())
    return known.take(pa.array(encoded.indices.to_numpy(), mask=~present))


def _times(milliseconds: Integers, absent: npt.NDArray[np.bool_]) -> pa.TimestampArray:
    outside = absent | (milliseconds < 0) | (milliseconds > LAST_MS)
    return pa.array(np.where(outside, 0, milliseconds) * 1000, pa.timestamp("us", tz="UTC"), mask=outside)
