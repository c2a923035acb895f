from __future__ import annotations

import pytest

from kgroups.model.assignment import Raw
from kgroups.model.cluster import Node
from kgroups.model.embedded.classic_streams import StreamsAssignment, StreamsSubscription, TaskId
from kgroups.model.embedded.connect import ConnectorWork, WorkerAssignment, WorkerState
from kgroups.model.embedded.schema_registry import RegistryAssignment, RegistryIdentity
from kgroups.model.embedded.sticky import StickyData
from kgroups.model.explain import explain
from kgroups.model.explain.facts import GroupFacts, Placement
from kgroups.model.explain.findings import Severity
from kgroups.model.groups import Group, Member
from kgroups.model.views.member_rows import MemberRow, member_rows
from kgroups.protocol.embedded import registry
from kgroups.protocol.embedded.classic_streams import decode_assignment_info, decode_subscription_info
from kgroups.protocol.embedded.connect import decode_work, decode_worker
from kgroups.protocol.embedded.registry import decode_member
from kgroups.protocol.embedded.schema_registry import LARGEST, decode_identity, decode_leader
from kgroups.protocol.embedded.sticky import decode_cooperative, decode_sticky

from .real_bytes import REAL, Sent
from .real_registries import (
    CONFLUENT,
    CONFLUENT_AT_ONE_URL,
    CONFLUENT_NONE_MAY_LEAD,
    KARAPACE,
    KARAPACE_NONE_MAY_LEAD,
    Elected,
)


def row_of(sent: Sent) -> MemberRow:
    asked, held = decode_member(sent.protocol_type, sent.metadata, sent.assignment, sent.protocol)
    member = Member("m", "c", "/h", held, subscription=asked)
    group = Group("g", "Classic", "Stable", sent.protocol_type, sent.protocol, Node(1, "h", 9092), (member,))
    return next(member_rows(group))


def of(client: str, protocol: str) -> list[MemberRow]:
    found = [row_of(sent) for sent in REAL if sent.client.startswith(client) and sent.protocol == protocol]
    assert found
    return sorted(found, key=lambda row: (str(row.current_assignment), str(row.worker_url)))


def test_bytes_of_real_clients_are_decoded_completely() -> None:
    for sent in REAL:
        row = row_of(sent)
        assert row.note is None and not row.subscription.raw and not row.current_assignment.raw, sent.client
        assert not isinstance(row.user_data, Raw) and not isinstance(row.assigned_user_data, Raw), sent.client


@pytest.mark.parametrize(
    ("client", "protocol", "decoded_as"),
    [
        ("Java", "sticky", [(1, "t1:0,1,2,3", "", 3), (None, "", "", 3)]),
        ("Java", "cooperative-sticky", [(2, "", "t1:0,1", 3), (2, "", "", 3)]),
        ("librdkafka", "cooperative-sticky", [(2, "", "", 3), (2, "t1:2,3", "t1:2,3", 3)]),
        ("kafka-python", "sticky", [(1, "t1:0,1,2,3", "", 0), (2, "t1:2,3", "", 0)]),
        ("kafka-python", "cooperative-sticky", [(None, "", "t1:0,1", 1), (None, "", "", 1)]),
    ],
)
def test_sticky_user_data_has_previous_assignment(client: str, protocol: str, decoded_as: list[object]) -> None:
    found = [
        (row.generation, str(row.previous_assignment or ""), str(row.owned_partitions), row.metadata_version)
        for row in of(client, protocol)
    ]
    assert found == decoded_as


def test_connect_workers_are_decoded() -> None:
    second, first = of("Kafka Connect", "sessioned")
    assert (first.worker_url, second.worker_url) == ("http://127.0.0.1:29394/", "http://127.0.0.1:28473/")
    assert first.leader_url == second.leader_url == "http://127.0.0.1:28473/"
    # The connector it ran when it joined; the task it was given then.
    assert (str(first.connector_tasks), str(first.connectors), first.config_offset) == ("files-0", "files", 4)
    assert (first.delay_ms, first.revoked, first.metadata_version) == (0, (), 2)
    assert isinstance(first.user_data, WorkerState) and first.user_data.running
    assert first.user_data.running.work == (ConnectorWork("files", True, ()),)


def test_classic_streams_members_are_decoded() -> None:
    even, odd = sorted(of("Kafka Streams", "stream"), key=lambda row: str(row.active_tasks))
    assert (str(even.active_tasks), str(even.standby_tasks)) == ("0:0,2;1:0,2", "1:1,3")
    assert (str(odd.active_tasks), str(odd.standby_tasks)) == ("0:1,3;1:1,3", "1:0,2")
    assert odd.process_id == "7cd42e0e-1d64-43fb-940e-f01f2d6c0f49"
    assert isinstance(odd.assigned_user_data, StreamsAssignment)
    assert odd.assigned_user_data.active[:2] == (TaskId(1, 1), TaskId(1, 3))
    assert odd.assigned_user_data.next_rebalance_ms is None


@pytest.mark.parametrize(
    ("elected", "rows"),
    [
        (CONFLUENT, [("https://registry-1:8081", True, 1), ("http://registry-2:8082", False, 1)]),
        (KARAPACE, [("https://karapace-1:8081", True, 2), ("https://karapace-2:8082", False, 2)]),
    ],
    ids=["Confluent", "Karapace"],
)
def test_real_schema_registry_identities_are_decoded(elected: Elected, rows: list[tuple[str, bool, int]]) -> None:
    found = [row_of(Sent("", "sr", "v0", answer, elected.given)) for answer in (elected.first, elected.second)]
    assert [(row.user_endpoint, row.leader_eligibility, row.metadata_version) for row in found] == rows
    assert {(row.leader_url, row.note) for row in found} == {(rows[0][0], None)}


@pytest.mark.parametrize(
    ("elected", "rule", "text"),
    [
        (
            CONFLUENT,
            "registry-leader",
            "the registry that accepts new schemas, as reported to its members, is https://reg",
        ),
        (
            KARAPACE,
            "registry-leader",
            "the registry that accepts new schemas, as reported to its members, is https://kara",
        ),
        (
            CONFLUENT_NONE_MAY_LEAD,
            "registry-leader",
            "no registry accepts new schemas: none of 2 registries is eligible",
        ),
        (
            KARAPACE_NONE_MAY_LEAD,
            "registry-leader",
            "no registry accepts new schemas: none of 2 registries is eligible",
        ),
        (
            CONFLUENT_AT_ONE_URL,
            "registry-urls",
            "several registries report the address http://registry-1:8",
        ),
    ],
)
def test_real_schema_registry_leader_is_explained(elected: Elected, rule: str, text: str) -> None:
    members = []
    for name, answer in zip("ab", elected[:2], strict=True):
        asked, held = decode_member("sr", answer, elected.given, "v0")
        members.append(Member(name, "c", "/h", held, subscription=asked))
    group = Group("g", "Classic", "Stable", "sr", "v0", Node(1, "h", 9092), tuple(members))
    found = {finding.rule: finding for finding in explain(GroupFacts(group, Placement("FindCoordinator v6"), {}))}
    assert found[rule].text.startswith(text)
    assert (found[rule].severity is Severity.INFO) == (elected in (CONFLUENT, KARAPACE))
    assert found["leader"].text.startswith("one of its members is the leader")


IDENTITY = b'{"version":1,"host":"sr-1","port":8081,"master_eligibility":true,"scheme":"https"}'


def test_schema_registry_identity_and_leader_are_decoded() -> None:
    asked = decode_identity(IDENTITY, "v0")
    assert asked.user_data == RegistryIdentity(1, "https", "sr-1", 8081, True)
    leader = b'{"version":1,"error":0,"master":"m-1","master_identity":' + IDENTITY + b"}"
    assert decode_leader(leader, "v0").user_data == RegistryAssignment(1, 0, "m-1", asked.user_data)
    newer = leader.replace(b"master", b"leader")
    assert decode_leader(newer, "v0").user_data == RegistryAssignment(1, 0, "m-1", asked.user_data)
    row = row_of(Sent("", "sr", "v0", IDENTITY, leader))
    assert (row.user_endpoint, row.leader_url, row.leader_eligibility) == (
        "https://sr-1:8081",
        "https://sr-1:8081",
        True,
    )


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[1]",
        b"{}",
        b"\xff",
        b"[" * 20_000,
        b'{"host":1,"port":2}',
        b'{"host":"h","port":true}',
        b" " * (LARGEST + 1),
    ],
)
def test_invalid_schema_registry_bytes_are_raw(data: bytes) -> None:
    for raw in (decode_identity(data, "v0").raw, decode_leader(data, "v0").raw):
        assert raw and raw.data == data and raw.reason


ALLOCATION = b"\0\1" + b"\0\0" + b"\0\1l" + b"\0\1u" + bytes(8)


@pytest.mark.parametrize(
    ("behind", "work", "delay"),
    [
        (b"", (), 0),
        (b"\xff\xff\xff\xff" * 2 + b"\0\0\0\7", (), 7),
        (b"\0\0\0\1\0\1c\0\0\0\2\0\0\0\1\xff\xff\xff\xff", (ConnectorWork("c", True, (1,)),), 0),
    ],
    ids=["nothing", "null arrays", "no revoked"],
)
def test_incremental_connect_assignment_may_omit_trailing_fields(behind: bytes, work: object, delay: int) -> None:
    found = decode_work(ALLOCATION + behind, "compatible")
    assert found.user_data == WorkerAssignment(1, 0, "l", "u", 0, work, (), delay)  # type: ignore[arg-type]
    assert found.note is None


def test_eager_connect_assignment_is_decoded() -> None:
    asked = decode_worker(b"\0\0" + b"\0\1u" + (5).to_bytes(8, "big"), "default")
    assert asked.user_data == WorkerState(0, "u", 5)
    held = decode_work(b"\0\0" + ALLOCATION[2:] + b"\0\0\0\0", "default")
    assert held.user_data == WorkerAssignment(0, 0, "l", "u", 0, ())


@pytest.mark.parametrize("version", [3, 99])
def test_newer_connect_version_is_read_as_the_newest_known(version: int) -> None:
    held = decode_work(version.to_bytes(2, "big") + ALLOCATION[2:] + b"\0\0\0\0" * 3 + b"more", "x")
    assert isinstance(held.user_data, WorkerAssignment)
    assert held.note == f"version {version} is newer than 2: 4 more bytes are ignored"


@pytest.mark.parametrize("data", [b"\0", b"\xff\xff\0\1u", b"\0\1\0\5u", ALLOCATION[:8], b"\0\0\0\1u"])
def test_invalid_connect_bytes_are_raw(data: bytes) -> None:
    assert decode_worker(data, "").raw and decode_work(data, "").raw


def test_newer_streams_version_has_only_its_version() -> None:
    data = (12).to_bytes(4, "big") + (13).to_bytes(4, "big") + b"whatever"
    assert decode_subscription_info(data) == StreamsSubscription(12, 13, None)
    assert decode_assignment_info(data) == StreamsAssignment(12, 13)


def test_streams_topic_name_invalid_in_kafka_is_raw() -> None:
    def assignment(name: bytes) -> bytes:
        topics = i32(1) + i32(0) + len(name).to_bytes(2, "big") + name
        return i32(5) + i32(5) + i32(0) + i32(0) + topics + i32(0) + i32(0)

    def i32(number: int) -> bytes:
        return number.to_bytes(4, "big")

    assert isinstance(decode_assignment_info(assignment(b"t" * 249)), StreamsAssignment)
    raw = decode_assignment_info(assignment(b"t" * 250))
    assert isinstance(raw, Raw) and "250 characters" in raw.reason


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\0\0\0", b"\0\0\0\1", b"\xff" * 40, b"\0\0\0\x0b" + b"\0\0\0\x0b" + b"\x7f" * 40],
)
def test_invalid_streams_bytes_are_raw(data: bytes) -> None:
    for found in (decode_subscription_info(data), decode_assignment_info(data)):
        assert isinstance(found, Raw) and found.data == data and found.reason


def test_sticky_user_data_before_kafka_2_3_has_no_generation() -> None:
    found = decode_sticky(b"\0\0\0\1\0\1t\0\0\0\1\0\0\0\5")
    assert (str(found), found.facts()["generation"]) == ("previous t:5 generation none", None)
    assert str(decode_cooperative(b"\xff" * 4)) == "generation none"


def test_cooperative_user_data_ignores_extra_bytes() -> None:
    assert decode_cooperative(b"\0\0\0\7\x00") == StickyData(None, 7)


@pytest.mark.parametrize("data", [b"\0", b"\0\0\0\5", b"\0\1\0\0\0\5"])
def test_invalid_sticky_bytes_are_raw(data: bytes) -> None:
    assert isinstance(decode_sticky(data), Raw)


def test_large_members_are_not_cached_in_memory() -> None:
    registry._cached.cache_clear()
    big = b"\0\0\0\0\0\0" + (1 << 20).to_bytes(4, "big") + bytes(1 << 20)
    asked, _ = decode_member("consumer", big, b"", "range")
    assert isinstance(asked.user_data, Raw) and len(asked.user_data.data) == 1 << 20
    assert registry._cached.cache_info().currsize == 1  # the empty assignment


def test_unknown_user_data_is_shown_as_bytes() -> None:
    asked, _ = decode_member("consumer", b"\0\0\0\0\0\1\0\1t\0\0\0\3abc", b"", "rack-affinity")
    assert str(asked.user_data) == "3 bytes 0x616263"
    assert (asked.topics, asked.note) == (("t",), None)
