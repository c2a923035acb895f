"""Decode records of ``__share_group_state`` into SHARE_STATES: one row for each record, none is lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import pyarrow as pa

from kgroups.errors import UndecodableRecord
from kgroups.model.share.batches import DeliveryState
from kgroups.model.share.state import UNCHANGED
from kgroups.protocol.share_state import SNAPSHOT, UPDATE, decode

from ..arrow import to_batch
from ..tables import SHARE_STATES
from .facts import micros, none_if_absent

FindNames = Callable[[Collection[str]], Mapping[str, str]]
"""IDs of topics -> their names, as far as known."""

_RECORDS: Final = {SNAPSHOT: "snapshot", UPDATE: "update"}
_STATES: Final = {
    DeliveryState.AVAILABLE: "available",
    DeliveryState.ACKNOWLEDGED: "acknowledged",
    DeliveryState.ARCHIVED: "archived",
}


def decode_share_states(records: pa.RecordBatch, find_names: FindNames) -> pa.RecordBatch:
    """Decode each record of a batch of RECORDS: a batch of SHARE_STATES, in the same order."""
    # Times stay numbers: Python's datetime ends at the year 9999.
    times = records["log_time"].cast(pa.int64()).to_pylist()
    rows = [
        {"log_partition": record["log_partition"], "log_offset": record["log_offset"], "log_time": time}
        | _row(record["key"], record["value"])
        for record, time in zip(records.drop_columns("log_time").to_pylist(), times, strict=True)
    ]
    names = find_names({row["topic_id"] for row in rows if "topic_id" in row})
    return to_batch(SHARE_STATES, [row | {"topic": names.get(row.get("topic_id", ""))} for row in rows])


def _row(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    try:
        record = decode(key, value)
    except UndecodableRecord as error:
        name = _RECORDS.get(-1 if error.record_type is None else error.record_type)
        # A transaction marker has no record type, and is not a tombstone.
        tombstone = value is None and error.record_type is not None
        return {"record_name": name, "group": error.group, "tombstone": tombstone, "error": error.cause}
    return {
        "record_name": _RECORDS[record.record_type],
        "group": record.group,
        "topic_id": record.key["TopicId"],
        "partition": record.key["Partition"],
        "tombstone": record.value is None,
        **(_state(record.value) if record.value else {}),
    }


def _state(value: Mapping[str, Any]) -> dict[str, Any]:
    batches = value["StateBatches"]
    return {
        "snapshot_epoch": value["SnapshotEpoch"],
        "state_epoch": value.get("StateEpoch"),
        "leader_epoch": _changed(value["LeaderEpoch"]),
        "start_offset": _changed(value["StartOffset"]),
        "delivery_complete_count": none_if_absent(value["DeliveryCompleteCount"]),
        "first_offsets": [batch["FirstOffset"] for batch in batches],
        "last_offsets": [batch["LastOffset"] for batch in batches],
        "delivery_states": [_STATES.get(batch["DeliveryState"], str(batch["DeliveryState"])) for batch in batches],
        "delivery_counts": [batch["DeliveryCount"] for batch in batches],
        "created_at": micros(value.get("CreateTimestamp")),
    }


def _changed(number: int) -> int | None:
    return None if number == UNCHANGED else number
