"""Offset commits, decoded by whole columns: where nearly all records of the topic go, and all of the time.

Strategy: what every version of the value has stands at a place that can be computed for all rows at once: before the
metadata, or behind it by the metadata's length. Keys repeat, so each distinct one is read once. Rule: nothing is
believed. A row of which any byte is not accounted for is *odd*: it is left to ``rows``, which also says what is wrong.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgroups.protocol.offsets_topic import NO_TOPIC_ID, RECORD_TYPES
from kgroups.protocol.offsets_topic.readers import uuid_text

from .binary import Bytes, Flags, Integers, texts
from .rows import COMMIT_TYPES, SCHEMA
from .times import LAST_MS

_LONGEST: Final = 0x7FFF
"""Of Kafka's strings, in bytes."""

# By version of the value: where the metadata's length is, and how many bytes are behind the metadata (in v4 before the
# tagged fields).
_LENGTH_AT: Final = np.array([10, 10, 10, 14, 14])
_BEHIND: Final = np.array([8, 16, 8, 8, 8])
_NEWEST: Final = len(_BEHIND) - 1
_FLEXIBLE: Final = 4

_NAMES: Final = pa.array([RECORD_TYPES[number].name for number in sorted(COMMIT_TYPES)], pa.string())


def decode_commits(keys: pa.BinaryArray, values: pa.BinaryArray) -> tuple[pa.RecordBatch, Flags]:
    """A batch of what decoding adds to a record (:data:`~.rows.SCHEMA`), and which of its rows are odd.

    What stands in the odd ones has no meaning.
    """
    key = _Keys.of(keys)
    tombstone = values.is_null().to_numpy(zero_copy_only=False)
    value = _Values.of(values, key.record_types)
    metadata, readable = texts(value.metadata)
    odd = ~key.good | (~tombstone & ~(value.good & readable))
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
    """The keys of a batch's rows; where one is not ``good`` its other columns have no meaning."""

    record_types: Integers
    groups: pa.StringArray
    topics: pa.StringArray
    partitions: Integers
    good: Flags

    @classmethod
    def of(cls, column: pa.BinaryArray) -> _Keys:
        encoded = column.dictionary_encode()
        # Of rows without a key the first distinct one is taken, if there is any, and they are not good.
        distinct = encoded.dictionary if len(encoded.dictionary) else pa.array([b""], pa.binary())
        where = encoded.indices.fill_null(0)
        rows = where.to_numpy()
        read = cls._read(Bytes(distinct))
        there = column.is_valid().to_numpy(zero_copy_only=False)
        return cls(
            read.record_types[rows],
            read.groups.take(where),
            read.topics.take(where),
            read.partitions[rows],
            read.good[rows] & there,
        )

    @classmethod
    def _read(cls, data: Bytes) -> _Keys:
        at = data.starts
        record_types, group_sizes = data.int16(at), data.int16(at + 2)
        good = (record_types >= 0) & (record_types <= 1) & (group_sizes >= 0)
        group_sizes = np.where(good, group_sizes, 0)
        topic_sizes = data.int16(at + 4 + group_sizes)
        good &= (topic_sizes >= 0) & (at + 10 + group_sizes + topic_sizes == data.ends)
        group_sizes, topic_sizes = np.where(good, group_sizes, 0), np.where(good, topic_sizes, 0)
        groups, groups_good = texts(data.slices(at + 4, group_sizes))
        topics, topics_good = texts(data.slices(at + 6 + group_sizes, topic_sizes))
        partitions = data.int32(at + 6 + group_sizes + topic_sizes)
        return cls(np.where(good, record_types, 0), groups, topics, partitions, good & groups_good & topics_good)


class _Values(NamedTuple):
    """The values of a batch's rows; where one is not ``good`` its other columns have no meaning."""

    versions: Integers
    offsets: Integers
    leader_epochs: Integers
    metadata: pa.BinaryArray
    commit_times: Integers
    expire_times: Integers
    topic_ids: pa.StringArray
    good: Flags

    @classmethod
    def of(cls, column: pa.BinaryArray, record_types: Integers) -> _Values:
        data = Bytes(column)
        at = data.starts
        versions = data.int16(at)
        # Of record type 0 there is only version 0.
        good = (data.ends - at >= 2) & (versions >= 0) & (versions <= np.where(record_types == 0, 0, _NEWEST))
        versions = np.where(good, versions, 0)
        sizes, times_at = _metadata(data, versions)
        good &= (sizes >= 0) & (sizes <= _LONGEST)
        behind = times_at + np.where(good, sizes, 0)
        end = behind + _BEHIND[versions]
        fits, topic_ids = _topic_ids(data, end, versions == _FLEXIBLE)
        good &= fits
        return cls(
            versions,
            data.int64(at + 2),
            np.where(versions >= 3, data.int32(at + 10), -1) if versions.max() >= 3 else np.full(len(at), -1),
            data.slices(times_at, np.where(good, sizes, 0)),
            data.int64(behind),
            np.where(versions == 1, data.int64(behind + 8), -1) if (versions == 1).any() else np.full(len(at), -1),
            topic_ids,
            good,
        )


def _metadata(data: Bytes, versions: Integers) -> tuple[Integers, Integers]:
    """How long each row's metadata is, in bytes, and where it begins."""
    at = data.starts + _LENGTH_AT[versions]
    flexible = versions == _FLEXIBLE
    if not flexible.any():
        return data.int16(at), at + 2
    # A length of up to two bytes, seven bits in each; a longer one leaves the row odd, for it will not fit.
    first, second = data.uint8(at), data.uint8(at + 1)
    long = first >= 0x80
    compact = np.where(long, (first & 0x7F) | (second << 7), first) - 1
    compact[long & (second >= 0x80)] = -1
    if flexible.all():
        return compact, at + 1 + long
    return np.where(flexible, compact, data.int16(at)), at + np.where(flexible, 1 + long, 2)


def _topic_ids(data: Bytes, at: Integers, flexible: Flags) -> tuple[Flags, pa.StringArray]:
    """Whether each value ends where it should: at ``at``, or behind its tagged fields if it is flexible.

    With the topic id that is in them; null where there is none, and where it is all zeroes.
    """
    ends = data.ends
    none: pa.StringArray = pa.nulls(len(at), pa.string())
    if not flexible.any():
        return at == ends, none
    # No tagged field: one byte, 0. Topic id: one field, tag 0, of 16 bytes; anything else is odd.
    count = data.uint8(at)
    empty = flexible & (count == 0) & (at + 1 == ends)
    with_id = flexible & (at + 19 == ends) & (count == 1) & (data.uint8(at + 1) == 0) & (data.uint8(at + 2) == 16)
    fits = np.where(flexible, empty | with_id, at == ends)
    return fits, _uuid_texts(data.uuids(at + 3), with_id) if with_id.any() else none


def _uuid_texts(uuids: pa.FixedSizeBinaryArray, there: Flags) -> pa.StringArray:
    encoded = uuids.dictionary_encode()  # topics are few
    names = [uuid_text(each) for each in encoded.dictionary.to_pylist()]
    known = pa.array([None if name == NO_TOPIC_ID else name for name in names], pa.string())
    return known.take(pa.array(encoded.indices.to_numpy(), mask=~there))


def _times(milliseconds: Integers, absent: npt.NDArray[np.bool_]) -> pa.TimestampArray:
    outside = absent | (milliseconds < 0) | (milliseconds > LAST_MS)
    return pa.array(np.where(outside, 0, milliseconds) * 1000, pa.timestamp("us", tz="UTC"), mask=outside)
