"""Records of ``__share_group_state``: decoded values, byte by byte."""

from __future__ import annotations

import pytest

from kgroups.errors import UndecodableRecord
from kgroups.protocol.record_schemas import Record
from kgroups.protocol.share_state import decode

TOPIC_ID, UUID_TEXT = bytes(range(16)), "AAECAwQFBgcICQoLDA0ODw"
KEY = {"GroupId": "g1", "TopicId": UUID_TEXT, "Partition": 5}
BATCH = {"FirstOffset": 7, "LastOffset": 9, "DeliveryState": 2, "DeliveryCount": 3}


def key(record_type: int) -> bytes:
    return bytes((0, record_type)) + bytes.fromhex("0002 6731") + TOPIC_ID + bytes.fromhex("00000005")


@pytest.mark.parametrize(("tags", "complete"), [("00", -1), ("01 00 04 00000002", 2), ("01 09 01 ff", -1)])
def test_snapshot_is_decoded(tags: str, complete: int) -> None:
    """The count of finished offsets is a tagged field since Kafka 4.2; unknown tags are skipped."""
    value = bytes.fromhex(
        "0000 00000001 00000002 00000003 0000000000000007 0000000000000a00 0000000000000b00"
        f"02 0000000000000007 0000000000000009 02 0003 00 {tags}"
    )
    assert decode(key(0), value) == Record(
        *(0, "ShareSnapshot", KEY),
        {
            "SnapshotEpoch": 1,
            "StateEpoch": 2,
            "LeaderEpoch": 3,
            "StartOffset": 7,
            "CreateTimestamp": 0xA00,
            "WriteTimestamp": 0xB00,
            "StateBatches": [BATCH],
            "DeliveryCompleteCount": complete,
        },
        0,
    )


def test_update_is_decoded() -> None:
    value = bytes.fromhex("0000 00000001 ffffffff ffffffffffffffff 02 0000000000000007 0000000000000009 02 0003 00 00")
    fields = {"SnapshotEpoch": 1, "LeaderEpoch": -1, "StartOffset": -1, "StateBatches": [BATCH]}
    assert decode(key(1), value) == Record(1, "ShareUpdate", KEY, {**fields, "DeliveryCompleteCount": -1}, 0)


def test_tombstone_has_only_a_key() -> None:
    assert decode(key(0), None) == Record(0, "ShareSnapshot", KEY, None, None)


@pytest.mark.parametrize(
    ("data", "value", "reason"),
    [
        (key(2), None, "record type 2 is unknown"),
        (key(0)[:-1], None, "key: it ends too soon"),
        (key(0), b"\0\1", "value: version 1 is unknown"),
        (key(1), b"\0\0\0", "value: it ends too soon"),
    ],
)
def test_other_records_are_refused_with_a_reason(data: bytes, value: bytes | None, reason: str) -> None:
    with pytest.raises(UndecodableRecord) as error:
        decode(data, value)
    assert error.value.cause == reason
