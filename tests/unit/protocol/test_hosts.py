"""Records without the hosts of clients: no byte of them is left, and the tables are otherwise the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kgroups.protocol.offsets_topic import RECORD_TYPES, decode
from kgroups.protocol.offsets_topic.hosts import replace_hosts
from kgroups.protocol.record_schemas.encode import encode_value
from tests.fakes.cluster_state import assignment_bytes, subscription_bytes
from tests.fakes.offset_records import Pair, commit_key, commit_value, key_bytes, value_bytes

SECRET = "host-7.example"
TOPICS = {"t1": (0, 2), "ü": (1,)}
SUBSCRIPTION = subscription_bytes(["t1", "ü"])
ASSIGNMENT = assignment_bytes(TOPICS)


def with_user_data(data: bytes) -> bytes:
    """The same, with a host in the user data, and after the end."""
    secret = SECRET.encode()
    absent = b"\xff\xff\xff\xff"
    assert data.count(absent) == 1
    return data.replace(absent, len(secret).to_bytes(4, "big") + secret) + secret


def classic(protocol_type: str, subscription: bytes, assignment: bytes) -> dict[str, Any]:
    member = {
        "memberId": "m1",
        "groupInstanceId": None,
        "clientId": "c",
        "clientHost": SECRET,
        "rebalanceTimeout": 300_000,
        "sessionTimeout": 45_000,
        "subscription": subscription,
        "assignment": assignment,
    }
    return {
        "protocolType": protocol_type,
        "generation": 3,
        "protocol": "range",
        "leader": "m1",
        "currentStateTimestamp": 1_760_000_000_000,
        "members": [member, member | {"memberId": "m2"}],
    }


def member(**more: Any) -> dict[str, Any]:
    base = {"InstanceId": None, "RackId": "r", "ClientId": "c", "ClientHost": SECRET, "RebalanceTimeoutMs": 5}
    return base | {"SubscribedTopicNames": ["t1"], "SubscribedTopicRegex": None, "ServerAssignor": None} | more


PROTOCOLS = [{"Name": "range", "Metadata": with_user_data(SUBSCRIPTION)}, {"Name": "odd", "Metadata": SECRET.encode()}]
STREAMS = {"TopologyEpoch": 1, "ProcessId": "p", "UserEndpoint": {"Host": SECRET, "Port": 9}, "ClientTags": []}
CASES: list[tuple[int, int, Mapping[str, Any]]] = [
    *(
        (2, version, classic("consumer", with_user_data(SUBSCRIPTION), with_user_data(ASSIGNMENT)))
        for version in range(5)
    ),
    (2, 3, classic("connect", SECRET.encode(), SECRET.encode())),
    (2, 3, classic("consumer", SECRET.encode(), SECRET.encode())),
    (2, 3, classic("consumer", b"", b"")),
    (5, 0, member()),
    (5, 0, member(ClassicMemberMetadata={"SessionTimeoutMs": 1, "SupportedProtocols": PROTOCOLS})),
    (10, 0, member()),
    (19, 0, member(**STREAMS)),
    (19, 0, member(**(STREAMS | {"UserEndpoint": None}))),
]


def fields(record_type: int, version: int, value: Mapping[str, Any]) -> tuple[bytes, bytes]:
    keys = ("g",) if record_type == 2 else ("g", "m1")
    return key_bytes(record_type, *keys), value_bytes(record_type, version, value, {9: SECRET.encode()})


@pytest.mark.parametrize(("record_type", "version", "value"), CASES)
@pytest.mark.parametrize("shown", ["", "0123456789abcdef"])
def test_no_byte_of_a_host_is_left(record_type: int, version: int, value: Mapping[str, Any], shown: str) -> None:
    key, data = fields(record_type, version, value)
    if record_type == 2 and version < 4:
        data = value_bytes(record_type, version, value)
    assert SECRET.encode() in data
    same_key, replaced = replace_hosts(key, data, lambda host: shown)
    assert same_key == key
    assert SECRET.encode() not in (replaced or b"")
    assert shown.encode() in (replaced or b"")
    before, after = decode(key, data).value or {}, decode(key, replaced).value or {}
    assert after.keys() == before.keys()
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {"members", "ClientHost", "UserEndpoint", "ClassicMemberMetadata"}
    hosts = [each["clientHost"] for each in after.get("members", [{"clientHost": after.get("ClientHost")}])]
    assert set(hosts) == {shown}


def test_records_without_hosts_are_unchanged() -> None:
    pairs: list[Pair] = [
        (commit_key(), commit_value()),
        (commit_key(), None),
        (key_bytes(2, "g"), None),
        (key_bytes(5, "g", "m"), None),
        (key_bytes(3, "g"), value_bytes(3, 0, {"Epoch": 7, "MetadataHash": 1})),
        (b"\0\0\0\1", b"\0\0"),
        (None, None),
    ]
    for key, value in pairs:
        assert replace_hosts(key, value, str.upper) == (key, value)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (b"\0\x63" + SECRET.encode(), SECRET.encode(), (b"\0\x63", b"ho")),
        (b"\0\x63" + SECRET.encode(), None, (b"\0\x63", None)),
        (None, SECRET.encode(), (None, b"ho")),
        (commit_key(), b"\0\x09" + SECRET.encode(), (commit_key(), b"\0\x09")),
        (commit_key() + SECRET.encode(), commit_value(), (b"\0\1", b"\0\4")),
        (key_bytes(5, "g", "m"), b"\0\x09" + SECRET.encode(), (key_bytes(5, "g", "m"), b"\0\x09")),
    ],
)
def test_only_type_and_version_of_undecodable_records_are_left(key: Any, value: Any, expected: Any) -> None:
    assert replace_hosts(key, value, str) == expected


@pytest.mark.parametrize(("record_type", "version", "value"), CASES)
def test_encoder_is_the_inverse_of_the_decoder(record_type: int, version: int, value: Mapping[str, Any]) -> None:
    key, _ = fields(record_type, version, value)
    data = value_bytes(record_type, version, value)
    record = decode(key, data)
    assert encode_value(RECORD_TYPES[record_type], version, {**value, **(record.value or {})}) == data
