"""Records of ``__share_group_state`` as a share coordinator would write them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kgroups.protocol.record_schemas.encode import encode_struct, encode_value
from kgroups.protocol.share_state import RECORD_TYPES, SNAPSHOT, UPDATE

from .record_batches import Batch, batch

GROUP, TOPIC_ID, TOPIC_ID_TEXT = "s", 7, "AAAAAAAAAAAAAAAAAAAABw"

States = Sequence[tuple[int, int, int, int]]
"""First offset, last offset, delivery state, delivery count."""


def state_key(record_type: int, group: str = GROUP, partition: int = 0) -> bytes:
    fields = {"GroupId": group, "TopicId": TOPIC_ID_TEXT, "Partition": partition}
    return struct.pack(">h", record_type) + encode_struct(RECORD_TYPES[record_type].key, fields, 0, False)


def snapshot(at: int, start: int, states: States = (), created: int | None = None, **key: object) -> Batch:
    """The record at an offset, written ``1000 * offset`` ms after 1970; ``created`` before that if it is a copy."""
    time = 1000 * at
    value = {"SnapshotEpoch": 1, "StateEpoch": 2, "LeaderEpoch": 3, "StartOffset": start}
    times = {"CreateTimestamp": time if created is None else created, "WriteTimestamp": time}
    return _record(at, SNAPSHOT, {**value, **times, "StateBatches": _batches(states)}, **key)


def update(at: int, start: int = -1, states: States = (), **key: object) -> Batch:
    value = {"SnapshotEpoch": 1, "LeaderEpoch": -1, "StartOffset": start, "StateBatches": _batches(states)}
    return _record(at, UPDATE, value, **key)


def deleted(at: int) -> Batch:
    return batch(at, [(at, 1000 * at)], key=state_key(SNAPSHOT), value=None)


def _record(at: int, record_type: int, value: dict[str, object], **key: object) -> Batch:
    data = encode_value(RECORD_TYPES[record_type], 0, value)
    return batch(at, [(at, 1000 * at)], key=state_key(record_type, **key), value=data)  # type: ignore[arg-type]


def _batches(states: States) -> list[dict[str, int]]:
    names = "FirstOffset", "LastOffset", "DeliveryState", "DeliveryCount"
    return [dict(zip(names, each, strict=True)) for each in states]
