"""Batches of records: every column of the decoded table."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from kgroups.history.arrow import arrow_schema
from kgroups.history.decode import decode_batch
from kgroups.history.decode.commits import decode_commits
from kgroups.history.decode.rows import decode_rows
from kgroups.history.tables import COMMITS, DECODED, RECORDS
from tests.fakes.offset_records import Pair, commit_key, commit_value, key_bytes, record_batch, value_bytes

TOPIC_ID = "AAECAwQFBgcICQoLDA0ODw"
NOON = datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)
EPOCH = {"Epoch": 5, "MetadataHash": 6}


def decoded(*pairs: Pair) -> list[dict[str, Any]]:
    batch = decode_batch(record_batch(pairs))
    assert batch.schema == arrow_schema(DECODED)
    batch.validate(full=True)
    by_rows = decode_rows(pairs)
    assert batch.select(by_rows.schema.names).equals(by_rows)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def odd(*pairs: Pair) -> list[bool]:
    """Which of these are left to be read one by one."""
    batch = record_batch(pairs)
    _, found = decode_commits(batch["key"], batch["value"])
    return [bool(each) for each in found]


def test_commit_row_has_every_column() -> None:
    [row] = decoded((commit_key("g", "t", 3), commit_value(4, metadata="m", topicId=TOPIC_ID)))
    assert row == {
        "log_partition": 3,
        "log_offset": 0,
        "log_time": NOON,
        "key": commit_key("g", "t", 3),
        "value": commit_value(4, metadata="m", topicId=TOPIC_ID),
        "record_type": 1,
        "record_name": "OffsetCommit",
        "value_version": 4,
        "tombstone": False,
        "group": "g",
        "topic": "t",
        "partition": 3,
        "committed_offset": 42,
        "leader_epoch": 7,
        "metadata": "m",
        "commit_time": NOON,
        "expire_time": None,
        "topic_id": TOPIC_ID,
        "body": None,
        "error": None,
    }


def test_commit_row_absent_values_are_null() -> None:
    pairs = [(commit_key(), commit_value(version, leaderEpoch=-1, expireTimestamp=-1)) for version in range(5)]
    for row in decoded(*pairs, (commit_key(), commit_value(2, commitTimestamp=-1))):
        assert row["leader_epoch"] is row["expire_time"] is row["topic_id"] is None
        assert row["metadata"] == ""
        assert (row["commit_time"] is None) == (row["log_offset"] == 5)


def test_tombstone_row_keeps_its_key() -> None:
    [row] = decoded((commit_key("g", "t", 3), None))
    answer = {name for name, value in row.items() if value is not None}
    assert row["tombstone"] is True
    assert answer == {
        "log_partition", "log_offset", "log_time", "key", "record_type", "record_name", "tombstone", "group", "topic",
        "partition",
    }  # fmt: skip


def test_commits_of_every_shape_are_decoded_in_columns() -> None:
    pairs: list[Pair] = [(commit_key("g" * size, "t" * (9 - size), size), None) for size in range(10)]
    pairs += [(commit_key(), commit_value(version, metadata="ü" * size)) for version in range(5) for size in range(9)]
    pairs += [(commit_key(), commit_value(4, metadata="m" * size)) for size in (125, 126, 127, 128, 16382)]
    pairs += [(commit_key("", "", -1), commit_value(4, topicId=TOPIC_ID, offset=-1))]
    pairs += [(key_bytes(0, "g", "t", 1), commit_value(0))]
    assert not any(odd(*pairs))
    rows = decoded(*pairs)
    assert {row["error"] for row in rows} == {None}
    assert rows[-1]["record_name"] == "LegacyOffsetCommit"


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ((commit_key(), commit_value(4, metadata="m" * 16383)), None),
        ((commit_key(), commit_value(4)[:-1] + b"\1\5\1\0"), None),
        ((commit_key(), commit_value(4)[:-1] + b"\1\0\x90\0" + b"\1" * 16), None),
        ((commit_key(), commit_value(3)[:-1]), "value: it ends too soon"),
        ((commit_key(), commit_value(3) + b"\0"), "value: 1 bytes are left over"),
        ((commit_key(), b"\0"), "value: too short for a version"),
        ((commit_key(), b""), "value: too short for a version"),
        ((commit_key(), b"\0\5"), "value: version 5 is unknown"),
        ((commit_key(), b"\x80\0" + commit_value(0)[2:]), "value: version -32768 is unknown"),
        ((key_bytes(0, "g", "t", 1), commit_value(1)), "value: version 1 is unknown"),
        (
            (commit_key(), commit_value(2)[:10] + b"\xff\xff" + commit_value(2)[12:]),
            "value: null where it is not allowed",
        ),
        ((commit_key(), commit_value(4)[:14] + b"\0" + commit_value(4)[15:]), "value: null where it is not allowed"),
        (
            (commit_key(), commit_value(2, metadata="mm").replace(b"mm", b"\xc3\x28")),
            "value: a string that is not UTF-8",
        ),
        ((commit_key("xx").replace(b"xx", b"\xc3\x28"), commit_value()), "key: a string that is not UTF-8"),
        ((commit_key("g", "xx").replace(b"xx", b"\xc3\x28"), None), "key: a string that is not UTF-8"),
        ((commit_key() + b"\0", commit_value()), "key: 1 bytes are left over"),
        ((commit_key()[:5], commit_value()), "key: it ends too soon"),
        ((b"\0\1", commit_value()), "key: it ends too soon"),
        ((b"", commit_value()), "key: too short for a version"),
        ((None, commit_value()), "there is no key"),
        ((None, None), "there is no key"),
        ((b"\0\0\0\1", b"\0\0\0\0\0\0"), "transaction marker: commit"),
    ],
)
def test_unusual_records_are_decoded_alone(pair: Pair, reason: str | None) -> None:
    good = (commit_key(), commit_value())
    assert odd(good, pair, good) == [False, True, False]
    first, row, last = decoded(good, pair, good)
    assert (row["error"], first["error"], last["error"]) == (reason, None, None)
    assert [each["log_offset"] for each in (first, row, last)] == [0, 1, 2]
    assert (first["committed_offset"], last["committed_offset"]) == (42, 42)
    [alone] = decoded(pair)
    assert {**alone, "log_offset": 1, "log_time": row["log_time"]} == row


def test_truncated_text_is_not_read_from_the_next_row() -> None:
    """Each row would be well if it might go on in the next one."""
    whole = commit_value(2, metadata="a long text that is split")
    assert odd((commit_key(), whole[:20]), (commit_key(), whole[20:])) == [True, True]
    key = commit_key("a group")
    assert odd((key[:8], None), (key[8:], None)) == [True, True]


def test_other_record_types_have_a_json_body() -> None:
    rows = decoded((key_bytes(11, "s"), value_bytes(11, 0, EPOCH)), (key_bytes(11, "s"), None))
    assert [(row["record_type"], row["record_name"], row["group"]) for row in rows] == [
        (11, "ShareGroupMetadata", "s")
    ] * 2
    assert json.loads(rows[0]["body"]) == {"key": {"GroupId": "s"}, "value": EPOCH}
    assert json.loads(rows[1]["body"]) == {"key": {"GroupId": "s"}, "value": None}
    assert [(row["tombstone"], row["value_version"]) for row in rows] == [(False, 0), (True, None)]


def test_undecodable_record_keeps_known_columns() -> None:
    unknown, gone, marker, cut = decoded(
        (b"\0\x63rest", b"\0\0"), (b"\0\x63rest", None), (b"\0\0\0\0", b"\0\0\0\0\0\0"), (key_bytes(11, "s"), b"\0\1")
    )
    assert (unknown["record_type"], unknown["record_name"], unknown["tombstone"]) == (99, None, False)
    assert (gone["error"], gone["tombstone"]) == ("record type 99 is unknown", True)
    assert (marker["record_type"], marker["tombstone"]) == (None, False)
    assert (cut["group"], cut["value_version"], cut["body"]) == ("s", 1, None)


@pytest.mark.parametrize("milliseconds", [-(2**63), -2, 0, 1, 253_402_300_799_999, 253_402_300_800_000, 2**63 - 1])
def test_times_out_of_range_are_null(milliseconds: int) -> None:
    value = commit_value(1, commitTimestamp=milliseconds, expireTimestamp=milliseconds)
    [row] = decoded((commit_key(), value))
    there = 0 <= milliseconds <= 253_402_300_799_999
    assert (row["commit_time"] is not None, row["expire_time"] is not None) == (there, there)


def test_empty_batch_is_decoded() -> None:
    assert decoded() == []


def test_sliced_batch_is_decoded() -> None:
    pairs: list[Pair] = [(commit_key(f"g{number}", partition=number), commit_value(number % 5)) for number in range(40)]
    pairs[7:9] = [(None, None), (key_bytes(11, "s"), None)]
    whole = decode_batch(record_batch(pairs))
    for begin, size in ((0, 40), (5, 4), (7, 2), (13, 27), (39, 1), (40, 0)):
        assert decode_batch(record_batch(pairs).slice(begin, size)).equals(whole.slice(begin, size))


def test_columns_of_other_order_zone_and_width_are_decoded() -> None:
    batch = record_batch([(commit_key(), commit_value())])
    wide = batch.schema
    for at, kind in enumerate((None, None, pa.timestamp("us", tz="Europe/Zurich"), pa.large_binary(), None)):
        wide = wide if kind is None else wide.set(at, wide.field(at).with_type(kind))
    other = batch.cast(wide).select([*reversed(RECORDS.names)])
    assert decode_batch(other).equals(decode_batch(batch))


def test_commit_columns_are_decoded_columns() -> None:
    assert set(COMMITS.names) <= set(DECODED.names)


def test_decode_does_not_import_spark() -> None:
    code = "import sys, kgroups.history.decode; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["False"]
