"""Records of ``__consumer_offsets``: decoded values, and reasons for undecodable ones."""

from __future__ import annotations

import json
import struct

import pytest

from kgroups.errors import UndecodableRecord
from kgroups.history.decode.modern import state_name
from kgroups.protocol.offsets_topic import RECORD_TYPES, decode
from kgroups.protocol.record_schemas import NO_TOPIC_ID, Record, to_json
from kgroups.protocol.record_schemas.spec import Versions, versions
from tests.fakes.offset_records import commit_key, commit_value, key_bytes, value_bytes

KEY = bytes.fromhex("0001 0002 6731 0001 74 00000005")
COMMIT = {"group": "g1", "topic": "t", "partition": 5}
TOPIC_ID = bytes(range(16))
UUID_TEXT = "AAECAwQFBgcICQoLDA0ODw"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0000 000000000000002a 0001 6d 0000000000000003", {"offset": 42, "metadata": "m", "commitTimestamp": 3}),
        (
            "0001 000000000000002a 0000 0000000000000003 0000000000000004",
            {"offset": 42, "metadata": "", "commitTimestamp": 3, "expireTimestamp": 4},
        ),
        ("0002 000000000000002a 0001 6d 0000000000000003", {"offset": 42, "metadata": "m", "commitTimestamp": 3}),
        (
            "0003 000000000000002a 00000007 0001 6d 0000000000000003",
            {"offset": 42, "leaderEpoch": 7, "metadata": "m", "commitTimestamp": 3},
        ),
        (
            "0004 000000000000002a 00000007 02 6d 0000000000000003 00",
            {"offset": 42, "leaderEpoch": 7, "metadata": "m", "commitTimestamp": 3, "topicId": NO_TOPIC_ID},
        ),
        (
            f"0004 000000000000002a ffffffff 01 0000000000000003 01 00 10 {TOPIC_ID.hex()}",
            {"offset": 42, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 3, "topicId": UUID_TEXT},
        ),
        (
            # A field that a newer broker may have added, tag 5 of one byte, is stepped over.
            "0004 000000000000002a 00000007 01 0000000000000003 01 05 01 ff",
            {"offset": 42, "leaderEpoch": 7, "metadata": "", "commitTimestamp": 3, "topicId": NO_TOPIC_ID},
        ),
    ],
)
def test_commit_record_of_every_version_is_decoded(value: str, expected: dict[str, object]) -> None:
    data = bytes.fromhex(value)
    version = data[1]
    assert decode(KEY, data) == Record(1, "OffsetCommit", COMMIT, expected, version)


def test_tombstone_has_only_a_key() -> None:
    assert decode(KEY, None) == Record(1, "OffsetCommit", COMMIT, None, None)


@pytest.mark.parametrize(
    ("key", "value", "reason", "known"),
    [
        (None, b"", "there is no key", (None, None, None, None)),
        (b"", b"", "key: too short for a version", (None, None, None, None)),
        (b"\0", b"", "key: too short for a version", (None, None, None, None)),
        (b"\0\0\0\0", b"\0" * 6, "transaction marker: abort", (None, None, None, None)),
        (b"\0\0\0\1", b"\0" * 6, "transaction marker: commit", (None, None, None, None)),
        (b"\0\0\0\2", b"\0" * 6, "key: 2 bytes are announced where 0 are left", (0, "LegacyOffsetCommit", None, None)),
        (b"\0\x09\0\0", None, "record type 9 is unknown", (9, None, None, None)),
        (b"\xff\xff", None, "record type -1 is unknown", (-1, None, None, None)),
        (KEY[:-1], None, "key: it ends too soon", (1, "OffsetCommit", None, None)),
        (KEY + b"\0", None, "key: 1 bytes are left over", (1, "OffsetCommit", None, None)),
        (b"\0\2\xff\xff", None, "key: null where it is not allowed", (2, "GroupMetadata", None, None)),
        (b"\0\2\xff\xfe", None, "key: a length of -2", (2, "GroupMetadata", None, None)),
        (b"\0\2\0\2\xc3\x28", None, "key: a string that is not UTF-8", (2, "GroupMetadata", None, None)),
        (KEY, b"", "value: too short for a version", (1, "OffsetCommit", "g1", None)),
        (KEY, b"\0\5", "value: version 5 is unknown", (1, "OffsetCommit", "g1", 5)),
        (KEY, b"\xff\xff", "value: version -1 is unknown", (1, "OffsetCommit", "g1", -1)),
        (KEY, commit_value(2)[:-1], "value: it ends too soon", (1, "OffsetCommit", "g1", 2)),
        (KEY, commit_value(4) + b"\0\0", "value: 2 bytes are left over", (1, "OffsetCommit", "g1", 4)),
    ],
)
def test_undecodable_record_has_a_reason_and_known_fields(
    key: bytes | None, value: bytes | None, reason: str, known: tuple[object, ...]
) -> None:
    with pytest.raises(UndecodableRecord) as caught:
        decode(key, value)
    error = caught.value
    assert (error.cause, str(error)) == (reason, reason)
    assert (error.record_type, error.name, error.group, error.value_version) == known


def test_announced_lengths_are_checked_against_the_bytes() -> None:
    regexes = key_bytes(16, "g", "r")
    with pytest.raises(UndecodableRecord, match=r"array of 4294967294 elements is announced in 1 bytes"):
        decode(regexes, b"\0\0\xff\xff\xff\xff\x0f\0")
    with pytest.raises(UndecodableRecord, match="length of more than five bytes"):
        decode(regexes, b"\0\0\xff\xff\xff\xff\xff\1\0")
    members = value_bytes(2, 3, GROUP | {"members": []})[:-4] + b"\x7f\xff\xff\xff"
    with pytest.raises(UndecodableRecord, match=r"array of 2147483647 elements is announced in 0 bytes"):
        decode(key_bytes(2, "g"), members)


def test_text_is_limited_to_kafka_maximum() -> None:
    record = decode(commit_key(), commit_value(4, metadata="m" * 32767))
    assert record.value and len(record.value["metadata"]) == 32767
    with pytest.raises(UndecodableRecord, match="a text of 32768 bytes"):
        decode(commit_key(), commit_value(4, metadata="m" * 32768))


def test_tagged_field_must_fit_its_length() -> None:
    start = commit_value(4)[:-1]
    with pytest.raises(UndecodableRecord, match="tagged field 0 does not fit its length"):
        decode(KEY, start + b"\1\0\x11" + TOPIC_ID + b"\0")
    with pytest.raises(UndecodableRecord, match="tagged field 3 of 9 bytes where 1 are left"):
        decode(KEY, start + b"\1\3\x09\0")


GROUP = {
    "protocolType": "consumer",
    "generation": 3,
    "protocol": None,
    "leader": None,
    "currentStateTimestamp": 5,
    "members": [],
}


def test_nullable_structs_are_decoded_in_both_forms() -> None:
    member = {
        "InstanceId": None,
        "RackId": None,
        "ClientId": "c",
        "ClientHost": "/1.2.3.4",
        "RebalanceTimeoutMs": 1,
        "TopologyEpoch": 2,
        "ProcessId": "p",
        "UserEndpoint": None,
        "ClientTags": [],
    }
    key = key_bytes(19, "g", "m")
    for endpoint in (None, {"Host": "h", "Port": 65535}):
        whole = member | {"UserEndpoint": endpoint}
        assert decode(key, value_bytes(19, 0, whole)).value == whole
    plain = value_bytes(5, 0, CONSUMER)
    # Where it is not written, Kafka does not read null.
    absent = {"SessionTimeoutMs": 0, "SupportedProtocols": []}
    assert decode(key_bytes(5, "g", "m"), plain).value == CONSUMER | {"ClassicMemberMetadata": absent}
    assert decode(key_bytes(5, "g", "m"), plain[:-1] + b"\1\0\1\0").value == CONSUMER | {"ClassicMemberMetadata": None}
    classic = {"SessionTimeoutMs": 9, "SupportedProtocols": [{"Name": "range", "Metadata": b"\0\1"}]}
    whole = CONSUMER | {"ClassicMemberMetadata": classic}
    assert decode(key_bytes(5, "g", "m"), value_bytes(5, 0, whole)).value == whole


CONSUMER = {
    "InstanceId": None,
    "RackId": "r",
    "ClientId": "c",
    "ClientHost": "/1.2.3.4",
    "SubscribedTopicNames": ["t"],
    "SubscribedTopicRegex": None,
    "RebalanceTimeoutMs": 1,
    "ServerAssignor": "uniform",
}


def test_decoded_defaults_are_not_shared() -> None:
    value = struct.pack(">hiqB", 0, 1, 2, 0)
    first, second = (decode(key_bytes(17, "g"), value).value for _ in range(2))
    epochs = {"StoredDescriptionTopologyEpoch": -1, "FailedDescriptionTopologyEpoch": -1}
    known = {"Epoch": 1, "MetadataHash": 2, "ValidatedTopologyEpoch": -1, "LastAssignmentConfigs": []}
    assert first == known | epochs
    assert first and second and first["LastAssignmentConfigs"] is not second["LastAssignmentConfigs"]


def test_to_json_encodes_bytes_in_base64() -> None:
    text = to_json({"a": b"\xff\xfe\xfd\xfc", "b": "Zürich", "c": [1, None]})
    assert text == '{"a":"//79/A==","b":"Zürich","c":[1,null]}'
    assert to_json(None) == "null"
    assert json.loads(to_json(decode(KEY, commit_value(1)).value))["expireTimestamp"] == 1_760_086_400_000
    with pytest.raises(TypeError, match="set is not a type of decoded records"):
        to_json({"a": set()})


def test_state_name_of_member_states() -> None:
    assert [state_name(8, state) for state in (0, 1, 2, 127, 5)] == [
        "stable", "unrevoked_partitions", "unreleased_partitions", "unknown", "5",
    ]  # fmt: skip
    assert [state_name(22, state) for state in (0, 1, 2, 3)] == ["0", "stable", "unrevoked_tasks", "unreleased_tasks"]


def test_versions_are_formatted_like_kafka() -> None:
    assert [str(versions(text)) for text in ("0+", "3+", "1", "0-4")] == ["0+", "3+", "1", "0-4"]
    assert versions("none") == Versions(0, -1)
    assert [version for version in range(-2, 7) if version in versions("none")] == []
    assert [version for version in range(-2, 7) if version in versions("3+")] == [3, 4, 5, 6]
    assert [version for version in range(-2, 7) if version in versions("0-4")] == [0, 1, 2, 3, 4]


def test_record_types_are_complete_and_unique() -> None:
    assert set(RECORD_TYPES) == set(range(24)) - {9, 18}
    assert len({kind.name for kind in RECORD_TYPES.values()}) == 22
