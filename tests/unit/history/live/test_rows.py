"""Every column of every live table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kgroups.history.arrow import arrow_schema
from kgroups.history.live import rows as made
from kgroups.history.live.tables import ASSIGNMENTS, FAILURES, GROUPS, LIVE, MEMBERS, OFFSETS
from kgroups.history.tables import Table
from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupType, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.model.views.offset_row import GroupOffsets

RAW = Raw(b"?", "not decoded")
HELD = assignment_of({"t": (0, 1), "u": (3,)}.items())

CLASSIC = Member("m-2", "client", "/1.2.3.4", HELD, "static-1", None, Subscription(("t", "u")))
OPAQUE = Member("m-1", "worker", "/1.2.3.4", Assignment(raw=RAW), subscription=Subscription(raw=RAW))
MODERN = Member(
    "m-9",
    "client",
    "/1.2.3.4",
    assignment_of([("t", (0,))]),
    rack_id="rack",
    subscription=Subscription((), "t.*"),
    member_epoch=7,
    target=assignment_of([("t", (0, 1))]),
    upgraded=False,
)


def group(*members: Member, type: str | None = GroupType.CLASSIC, **rest: Any) -> Group:
    values = {"state": "Stable", "protocol_type": "consumer", "protocol": "range", **rest}
    return Group("g", type, coordinator=Node(1, "host", 9092), members=members, **values)


def table(of: Table, rows: Iterable[made.Row]) -> list[dict[str, Any]]:
    batch = made.record_batch(of, list(rows))
    batch.validate(full=True)
    assert batch.schema == arrow_schema(of)
    found: list[dict[str, Any]] = batch.to_pylist()
    return found


def test_group_row_has_every_column() -> None:
    modern = group(MODERN, type=GroupType.CONSUMER, group_epoch=8, target_assignment_epoch=7)
    assert table(GROUPS, [made.group_row(modern)]) == [
        {
            "group": "g",
            "kind": "consumer",
            "state": "Stable",
            "protocol_type": "consumer",
            "protocol": "range",
            "coordinator_id": 1,
            "coordinator_host": "host",
            "coordinator_port": 9092,
            "group_epoch": 8,
            "target_assignment_epoch": 7,
        }
    ]


def test_group_row_absent_values_are_null() -> None:
    [row] = table(GROUPS, [made.group_row(group(state="", protocol_type="", protocol="", type=None))])
    assert {name for name, value in row.items() if value is None} == {
        "kind", "state", "protocol", "group_epoch", "target_assignment_epoch",
    }  # fmt: skip


def test_members_rows_have_every_column() -> None:
    rows = table(MEMBERS, made.members_rows(group(CLASSIC, MODERN, OPAQUE)))
    opaque, classic, modern = rows
    assert classic == {
        "group": "g",
        "kind": "classic",
        "member_id": "m-2",
        "instance_id": "static-1",
        "client_id": "client",
        "host": "/1.2.3.4",
        "rack_id": None,
        "member_epoch": None,
        "partitions": 3,
        "topics": ["t", "u"],
        "topic_regex": None,
        "upgraded": None,
    }
    assert (opaque["member_id"], opaque["partitions"], opaque["topics"]) == ("m-1", None, None)
    assert (modern["rack_id"], modern["member_epoch"], modern["upgraded"]) == ("rack", 7, False)
    assert (modern["partitions"], modern["topics"], modern["topic_regex"]) == (1, [], "t.*")


def test_members_rows_of_undescribed_type_are_empty() -> None:
    undescribed = group(type=GroupType.SHARE)._replace(members=None)
    assert not list(made.members_rows(undescribed)) and not list(made.assignments_rows(undescribed))


def test_assignments_rows_have_current_and_target() -> None:
    rows = table(ASSIGNMENTS, made.assignments_rows(group(CLASSIC, MODERN, OPAQUE)))
    assert [tuple(row.values()) for row in rows] == [
        ("g", "m-2", "t", [0, 1], "current"),
        ("g", "m-2", "u", [3], "current"),
        ("g", "m-9", "t", [0], "current"),
        ("g", "m-9", "t", [0, 1], "target"),
    ]


def test_offsets_rows_have_every_column() -> None:
    commits = GroupCommits("g", {"t": (Commit(0, 60, 4, "note to self"), Commit(2, 7))})
    logs = Logs({"t": {0: LogOffsets(10, 100), 1: LogOffsets(0, 5)}}, {("t", 2): "no leader"})
    rows = table(OFFSETS, made.offsets_rows(GroupOffsets(group(CLASSIC, OPAQUE), commits, logs)))
    assert rows[0] == {
        "group": "g",
        "topic": "t",
        "partition": 0,
        "committed_offset": 60,
        "leader_epoch": 4,
        "metadata": "note to self",
        "log_start": 10,
        "log_end": 100,
        "lag": 40,
        "member_id": "m-2",
        "host": "/1.2.3.4",
        "client_id": "client",
        "instance_id": "static-1",
        "note": None,
    }
    brief = [(row["topic"], row["partition"], row["committed_offset"], row["metadata"], row["lag"]) for row in rows]
    assert brief == [
        ("t", 0, 60, "note to self", 40),
        ("t", 1, None, None, None),
        ("t", 2, 7, "", None),
        ("u", 3, None, None, None),
        (None, None, None, None, None),
    ]
    assert rows[2]["note"] == "no leader"
    assert rows[4]["note"].startswith("assignment not decoded")


def test_failure_rows_are_sorted() -> None:
    failures = [
        Failure(Scope.TOPIC, "t", "no", "TOPIC_AUTHORIZATION_FAILED", 29, "Metadata", 2),
        Failure(Scope.CLUSTER, "", "nobody answered"),
    ]
    assert [tuple(row.values()) for row in table(FAILURES, made.failure_rows(failures))] == [
        ("cluster", None, "nobody answered", None, None, None, None),
        ("topic", "t", "no", "TOPIC_AUTHORIZATION_FAILED", 29, "Metadata", 2),
    ]
    assert made.failure_rows(failures) == made.failure_rows(reversed(failures))


@pytest.mark.parametrize("each", LIVE.values(), ids=LIVE)
def test_tables_may_be_empty(each: Table) -> None:
    assert table(each, []) == []
    assert list(made.batches(each, [])) == []


def test_many_rows_are_split_into_batches() -> None:
    rows = [("g", "m", f"t{at}", (at,), "current") for at in range(made.BATCH + 1)]
    first, second = made.batches(ASSIGNMENTS, rows)
    assert (first.num_rows, second.num_rows) == (made.BATCH, 1)
    assert second["topic"][0].as_py() == f"t{made.BATCH}"
