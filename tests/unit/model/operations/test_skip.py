"""The words and the file of skipped records."""

from __future__ import annotations

import base64
import json

from kgroups.model.operations.skip import SHOWN, record_lines, skip_notices
from kgroups.model.record import Header, RecordDetails

KEY = ("g", "t", 3)
FULL = RecordDetails(
    12, 1_767_225_600_000, b"key", b"\xff\0", (Header("trace", b"1"), Header("none", None)), 5, 90, 12, 7
)
BARE = RecordDetails(13, None, None, None, (), 0, 70, 13, None)


def test_skipped_records_are_described_without_their_contents() -> None:
    assert skip_notices([(KEY, [FULL, BARE])]) == [
        "group 'g' skips t-3 offset 12: written 2026-01-01T00:00:00.000Z, key of 3 bytes, value of 2 bytes, "
        "headers trace, none, producer ID 7",
        "group 'g' skips t-3 offset 13: no timestamp, no key, no value",
    ]


def test_many_skipped_records_are_counted() -> None:
    records = [BARE._replace(offset=number) for number in range(SHOWN + 2)]
    notices = skip_notices([(KEY, records)])
    assert len(notices) == SHOWN + 1
    assert notices[-1] == f"group 'g' skips t-3: 2 more records, up to offset {SHOWN + 1}"


def test_file_of_skipped_records_has_every_byte() -> None:
    header, full, bare = map(json.loads, record_lines([(KEY, [FULL, BARE])], {"cluster_id": "c"}))
    assert header == {"schema": "kgroups/skipped-records/v1", "cluster_id": "c", "records": 2}
    assert (full["group"], full["topic"], full["partition"], full["offset"]) == ("g", "t", 3, 12)
    assert base64.b64decode(full["key"]) == FULL.key and base64.b64decode(full["value"]) == FULL.value
    assert full["headers"] == [{"name": "trace", "value": "MQ=="}, {"name": "none", "value": None}]
    assert (bare["timestamp"], bare["key"], bare["value"], bare["headers"]) == (None, None, None, [])
