"""The tables that each record type is split into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from kgroups.history.arrow import arrow_schema
from kgroups.history.decode import STORED_FROM_RECORDS, as_table, decode_batch, split, split_table
from kgroups.history.tables import COMMITS, RECORDS, STORED, UNDECODED
from tests.fakes.cluster_state import assignment_bytes, subscription_bytes
from tests.fakes.offset_records import Pair, commit_key, commit_value, key_bytes, record_batch, value_bytes

ID_1, ID_2 = "AAECAwQFBgcICQoLDA0ODw", "Dw4NDAsKCQgHBgUEAwIBAA"
PLACE = {"log_partition", "log_offset", "log_time", "group"}
TABLES = {table.name: table for table in STORED}

Rows = Mapping[str, list[dict[str, Any]]]


def tables_of(*pairs: Pair) -> Rows:
    """Table -> its rows, without place and group, and without what is null; tables without rows left out."""
    found = {}
    for name, batch in split(decode_batch(record_batch(pairs))).items():
        assert batch.schema == arrow_schema(TABLES[name])
        batch.validate(full=True)
        assert not any(batch[column.name].null_count for column in TABLES[name].columns if column.required)
        rows = batch.to_pylist()
        assert {row["group"] for row in rows} <= {"g", None}
        assert all(row["log_partition"] == 3 and row["log_time"] for row in rows)
        shown = [{key: value for key, value in row.items() if key not in PLACE and value is not None} for row in rows]
        if shown:
            found[name] = shown
    return found


def record(record_type: int, value: Mapping[str, Any] | None, *key: str, version: int = 0) -> Pair:
    data = None if value is None else value_bytes(record_type, version, value)
    return key_bytes(record_type, "g", *key), data


def test_split_commits() -> None:
    found = tables_of((commit_key(), commit_value(metadata="m")), (commit_key(), None))
    assert list(found) == ["commits"]
    commit, tombstone = found["commits"]
    assert (commit["committed_offset"], commit["metadata"], commit["tombstone"]) == (42, "m", False)
    assert tombstone == {"topic": "t", "partition": 0, "tombstone": True}


MEMBER = {
    "memberId": "m1",
    "groupInstanceId": "i1",
    "clientId": "c",
    "clientHost": "/1.2.3.4",
    "rebalanceTimeout": 300_000,
    "sessionTimeout": 45_000,
    "subscription": subscription_bytes(["t1", "t2"]),
    "assignment": assignment_bytes({"t1": (2, 0), "t2": (1,)}),
}
GROUP = {
    "protocolType": "consumer",
    "generation": 7,
    "protocol": "range",
    "leader": "m1",
    "currentStateTimestamp": 1_760_000_000_000,
    "members": [MEMBER],
}


def test_split_classic_group_with_members() -> None:
    bare = MEMBER | {"memberId": "m2", "groupInstanceId": None, "assignment": assignment_bytes({})}
    found = tables_of(record(2, GROUP | {"members": [MEMBER, bare]}, version=3))
    assert list(found) == ["group_metadata", "members", "assignments"]
    [group] = found["group_metadata"]
    assert group.pop("state_time").timestamp() == 1_760_000_000
    assert group == {
        "protocol_type": "consumer",
        "generation": 7,
        "protocol": "range",
        "leader": "m1",
        "member_count": 2,
        "tombstone": False,
    }
    first = {
        "kind": "classic",
        "generation": 7,
        "member_id": "m1",
        "instance_id": "i1",
        "client_id": "c",
        "client_host": "/1.2.3.4",
        "rebalance_timeout_ms": 300_000,
        "session_timeout_ms": 45_000,
        "topics": ["t1", "t2"],
        "tombstone": False,
    }
    second = {key: value for key, value in first.items() if key != "instance_id"} | {"member_id": "m2"}
    assert found["members"] == [first, second]
    given = {"kind": "classic", "member_id": "m1", "role": "assigned", "epoch": 7, "tombstone": False}
    assert found["assignments"] == [
        given | {"topic": "t1", "partitions": [0, 2]},
        given | {"topic": "t2", "partitions": [1]},
    ]


def test_split_classic_group_of_oldest_version() -> None:
    found = tables_of(record(2, GROUP))
    assert "state_time" not in found["group_metadata"][0]
    assert not {"instance_id", "rebalance_timeout_ms"} & found["members"][0].keys()


@pytest.mark.parametrize("embedded", [b"", b"\xca\xfe", MEMBER["subscription"]])
def test_split_members_of_another_protocol_have_no_topics(embedded: bytes) -> None:
    member = MEMBER | {"subscription": embedded, "assignment": embedded}
    found = tables_of(record(2, GROUP | {"protocolType": "connect", "members": [member]}, version=3))
    assert list(found) == ["group_metadata", "members"]
    assert "topics" not in found["members"][0]


def test_split_empty_and_deleted_classic_group() -> None:
    empty = GROUP | {"protocolType": "", "protocol": None, "leader": None, "currentStateTimestamp": -1, "members": []}
    found = tables_of(record(2, empty, version=3), record(2, None))
    assert found == {
        "group_metadata": [
            {"protocol_type": "", "generation": 7, "member_count": 0, "tombstone": False},
            {"tombstone": True},
        ]
    }


CONSUMER = {
    "InstanceId": None,
    "RackId": "r",
    "ClientId": "c",
    "ClientHost": "/1.2.3.4",
    "SubscribedTopicNames": ["t1"],
    "SubscribedTopicRegex": "",
    "RebalanceTimeoutMs": 1000,
    "ServerAssignor": "uniform",
    "ClassicMemberMetadata": None,
}


def test_split_members_of_consumer_group() -> None:
    protocols = [{"Name": name, "Metadata": b""} for name in ("range", "sticky")]
    classic = {"SessionTimeoutMs": 9, "SupportedProtocols": protocols}
    without_classic = {name: value for name, value in CONSUMER.items() if name != "ClassicMemberMetadata"}
    regex = {"SubscribedTopicNames": [], "SubscribedTopicRegex": "t.*", "RebalanceTimeoutMs": -1}
    found = tables_of(
        record(5, CONSUMER, "m1"),
        record(5, without_classic, "m1"),
        record(5, CONSUMER | regex | {"ClassicMemberMetadata": classic, "ServerAssignor": None}, "m2"),
        record(5, None, "m3"),
    )
    base = {
        "kind": "consumer",
        "client_id": "c",
        "client_host": "/1.2.3.4",
        "rack_id": "r",
        "tombstone": False,
    }
    plain = base | {"member_id": "m1", "rebalance_timeout_ms": 1000, "assignor": "uniform", "topics": ["t1"]}
    assert found == {
        "members": [
            plain,
            plain,
            base
            | {"member_id": "m2", "topics": [], "topic_regex": "t.*"}
            | {"session_timeout_ms": 9, "protocols": ["range", "sticky"]},
            {"kind": "consumer", "member_id": "m3", "tombstone": True},
        ]
    }


def test_split_members_of_share_group() -> None:
    member = {"RackId": None, "ClientId": "c", "ClientHost": "/h", "SubscribedTopicNames": ["t1", "t2"]}
    found = tables_of(record(10, member, "m1"), record(10, None, "m1"))
    answer = {"client_id": "c", "client_host": "/h", "topics": ["t1", "t2"]}
    assert found == {
        "members": [
            {"kind": "share", "member_id": "m1", "tombstone": False} | answer,
            {"kind": "share", "member_id": "m1", "tombstone": True},
        ]
    }


def test_split_members_of_streams_group() -> None:
    member = {
        "InstanceId": "i",
        "RackId": None,
        "ClientId": "c",
        "ClientHost": "/h",
        "RebalanceTimeoutMs": 5,
        "TopologyEpoch": 1,
        "ProcessId": "p",
        "UserEndpoint": None,
        "ClientTags": [],
    }
    found = tables_of(record(19, member, "m1"), record(19, None, "m1"))
    answer = {"instance_id": "i", "client_id": "c", "client_host": "/h", "rebalance_timeout_ms": 5}
    assert found == {
        "members": [
            {"kind": "streams", "member_id": "m1", "tombstone": False} | answer,
            {"kind": "streams", "member_id": "m1", "tombstone": True},
        ]
    }


@pytest.mark.parametrize(
    ("record_type", "kind", "subject", "value"),
    [
        (3, "consumer", "group", {"Epoch": 5}),
        (11, "share", "group", {"Epoch": 5, "MetadataHash": 1}),
        (17, "streams", "group", {"Epoch": 5, "MetadataHash": 1}),
        (6, "consumer", "target", {"AssignmentEpoch": 5}),
        (12, "share", "target", {"AssignmentEpoch": 5}),
        (20, "streams", "target", {"AssignmentEpoch": 5}),
    ],
)
def test_split_epochs_of_groups(record_type: int, kind: str, subject: str, value: dict[str, Any]) -> None:
    found = tables_of(record(record_type, value), record(record_type, None))
    base = {"kind": kind, "subject": subject}
    assert found == {"epochs": [base | {"epoch": 5, "tombstone": False}, base | {"tombstone": True}]}


TOPICS = [{"TopicId": ID_1, "Partitions": [2, 0]}, {"TopicId": ID_2, "Partitions": [1]}]


@pytest.mark.parametrize(("record_type", "kind"), [(7, "consumer"), (13, "share")])
def test_split_target_assignments(record_type: int, kind: str) -> None:
    found = tables_of(
        record(record_type, {"TopicPartitions": TOPICS}, "m"),
        record(record_type, {"TopicPartitions": []}, "m"),
        record(record_type, None, "m"),
    )
    base = {"kind": kind, "member_id": "m", "role": "target", "tombstone": False}
    assert found == {
        "assignments": [
            base | {"topic_id": ID_1, "partitions": [0, 2]},
            base | {"topic_id": ID_2, "partitions": [1]},
            base | {"partitions": []},
            base | {"tombstone": True},
        ]
    }


def test_split_current_assignments_of_consumer_group() -> None:
    current = {
        "MemberEpoch": 5,
        "PreviousMemberEpoch": 4,
        "State": 1,
        "AssignedPartitions": TOPICS[:1],
        "PartitionsPendingRevocation": TOPICS[1:],
    }
    empty = {"PreviousMemberEpoch": -1, "State": 0, "AssignedPartitions": [], "PartitionsPendingRevocation": []}
    found = tables_of(record(8, current, "m"), record(8, current | empty, "m"), record(8, None, "m"))
    base = {"kind": "consumer", "member_id": "m", "tombstone": False}
    assert found == {
        "assignments": [
            base | {"role": "current", "epoch": 5, "topic_id": ID_1, "partitions": [0, 2]},
            base | {"role": "revoking", "epoch": 5, "topic_id": ID_2, "partitions": [1]},
            base | {"role": "current", "epoch": 5, "partitions": []},
            base | {"role": "current", "tombstone": True},
        ],
        "epochs": [
            base | {"subject": "member", "epoch": 5, "previous_epoch": 4, "state": "unrevoked_partitions"},
            base | {"subject": "member", "epoch": 5, "state": "stable"},
            base | {"subject": "member", "tombstone": True},
        ],
    }


def test_split_current_assignments_of_share_group() -> None:
    current = {"MemberEpoch": 5, "PreviousMemberEpoch": 4, "State": 0, "AssignedPartitions": TOPICS[:1]}
    found = tables_of(record(14, current, "m"))
    base = {"kind": "share", "member_id": "m", "tombstone": False}
    assert found == {
        "assignments": [base | {"role": "current", "epoch": 5, "topic_id": ID_1, "partitions": [0, 2]}],
        "epochs": [base | {"subject": "member", "epoch": 5, "previous_epoch": 4, "state": "stable"}],
    }


TASKS = {
    "ActiveTasks": [{"SubtopologyId": "0", "Partitions": [1, 0]}],
    "StandbyTasks": [{"SubtopologyId": "1", "Partitions": [2]}],
    "WarmupTasks": [],
}
NO_TASKS = {key: [] for key in TASKS}


def test_split_tasks_of_streams_group() -> None:
    pending = {f"{name}PendingRevocation": tasks for name, tasks in reversed(TASKS.items())}
    current = {"MemberEpoch": 5, "PreviousMemberEpoch": 4, "State": 2, **TASKS, **pending}
    found = tables_of(
        record(21, TASKS, "m"), record(21, NO_TASKS, "m"), record(22, current, "m"), record(22, None, "m")
    )
    base = {"kind": "streams", "member_id": "m", "tombstone": False}
    assert found == {
        "assignments": [
            base | {"role": "target-active", "topic": "0", "partitions": [0, 1]},
            base | {"role": "target-standby", "topic": "1", "partitions": [2]},
            base | {"role": "target-active", "partitions": []},
            base | {"role": "current-active", "epoch": 5, "topic": "0", "partitions": [0, 1]},
            base | {"role": "current-standby", "epoch": 5, "topic": "1", "partitions": [2]},
            base | {"role": "revoking-active", "epoch": 5, "topic": "0", "partitions": [0, 1]},
            base | {"role": "revoking-standby", "epoch": 5, "topic": "1", "partitions": [2]},
            base | {"role": "current-active", "tombstone": True},
        ],
        "epochs": [
            base | {"subject": "member", "epoch": 5, "previous_epoch": 4, "state": "unrevoked_tasks"},
            base | {"subject": "member", "tombstone": True},
        ],
    }


def test_split_records_without_table_go_to_other() -> None:
    regex = {"Topics": ["t"], "Version": 1, "Timestamp": 2}
    found = tables_of(
        record(16, regex, "t.*"),
        record(16, None, "t.*"),
        (b"\0\x63", b""),
        (commit_key("g"), b"\0\7"),
        (b"\0\0\0\1", b"\0\0\0\0\0\0"),
    )
    name = {"record_type": 16, "record_name": "ConsumerGroupRegularExpression"}
    key = '{"key":{"GroupId":"g","RegularExpression":"t.*"},"value":'
    assert found == {
        "undecoded": [
            name
            | {"value_version": 0, "tombstone": False, "body": key + '{"Topics":["t"],"Version":1,"Timestamp":2}}'},
            name | {"tombstone": True, "body": key + "null}"},
            {"record_type": 99, "tombstone": False, "reason": "record type 99 is unknown"},
            {
                "record_type": 1,
                "record_name": "OffsetCommit",
                "value_version": 7,
                "tombstone": False,
                "topic": "t",
                "partition": 0,
            }
            | {"reason": "value: version 7 is unknown"},
            {"tombstone": False, "reason": "transaction marker: commit"},
        ]
    }


def test_split_table_equals_split() -> None:
    pairs = [record(2, GROUP), record(3, {"Epoch": 5}), (commit_key(), commit_value()), (None, None)]
    batches = [decode_batch(record_batch(pairs)), decode_batch(record_batch(pairs[:1])), decode_batch(record_batch([]))]
    for name in STORED_FROM_RECORDS:
        alone = split_table(name)(iter(batches))
        expected = pa.Table.from_batches([split(batch)[name] for batch in batches])
        assert pa.Table.from_batches(list(alone), expected.schema).equals(expected)
    with pytest.raises(KeyError):
        split_table("heads")


@pytest.mark.parametrize("name", [RECORDS.name, COMMITS.name, UNDECODED.name])
def test_as_table_selects_groups(name: str) -> None:
    value = commit_value()
    records = record_batch([(commit_key("a"), value), (commit_key("b"), value), (b"?", b"?"), (commit_key("a"), None)])
    [batch] = as_table(TABLES[name], iter([records]), ["a", "c"])
    own = {"records": [0, 3], "commits": [0, 3], "undecoded": []}[name]
    assert batch["log_offset"].to_pylist() == [records["log_offset"][number].as_py() for number in own]
    assert batch.schema == arrow_schema(TABLES[name])


def test_split_empty_batch_has_every_table() -> None:
    found = split(decode_batch(record_batch([])))
    assert set(found) == set(STORED_FROM_RECORDS) <= set(TABLES)
    assert {len(batch) for batch in found.values()} == {0}
