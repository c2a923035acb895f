"""The record types of ``__share_group_state``, as in Kafka's message definitions (``ShareSnapshotValue.json``, ...).

A snapshot contains the whole state of a partition of a group. An update contains what changed after the last snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..record_schemas import Field, RecordType

SNAPSHOT, UPDATE = 0, 1

_KEY = (Field("GroupId", "string"), Field("TopicId", "uuid"), Field("Partition", "int32"))
# Since Kafka 4.2 (KIP-1226).
_COMPLETE = Field("DeliveryCompleteCount", "int32", tag=0, default=-1)
_BATCHES = Field(
    "StateBatches",
    "[]StateBatch",
    (
        Field("FirstOffset", "int64"),
        Field("LastOffset", "int64"),
        Field("DeliveryState", "int8"),
        Field("DeliveryCount", "int16"),
    ),
)

RECORD_TYPES: Final[Mapping[int, RecordType]] = {
    SNAPSHOT: RecordType(
        SNAPSHOT,
        "ShareSnapshot",
        _KEY,
        (
            Field("SnapshotEpoch", "int32"),
            Field("StateEpoch", "int32"),
            Field("LeaderEpoch", "int32"),
            Field("StartOffset", "int64"),
            _COMPLETE,
            Field("CreateTimestamp", "int64"),
            Field("WriteTimestamp", "int64"),
            _BATCHES,
        ),
    ),
    UPDATE: RecordType(
        UPDATE,
        "ShareUpdate",
        _KEY,
        (
            Field("SnapshotEpoch", "int32"),
            Field("LeaderEpoch", "int32"),
            Field("StartOffset", "int64"),
            _COMPLETE,
            _BATCHES,
        ),
    ),
}
"""ID -> record type."""
