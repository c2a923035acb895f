"""Rows to render."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from kgroups.model.assignment import Assignment, Raw, Subscription, TopicPartitions
from kgroups.model.cluster import Node
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render.output import write_outcome
from kgroups.render.views import View

ONE = Node(1, "127.0.0.1", 19001)
SIX = Node(2, "::1", 19002)


@pytest.fixture
def render() -> Callable[..., str]:
    """Return the output of ``write_outcome`` as a string."""

    def rendered(outcome: Outcome[Any], view: View, **options: Any) -> str:
        stream = io.StringIO()
        write_outcome(outcome, view, stream=stream, **options)
        return stream.getvalue()

    return rendered


@pytest.fixture
def groups() -> Outcome[ListRow]:
    rows = (
        ListRow("orders", "Consumer", "consumer", "Stable", SIX),
        ListRow("billing", "Classic", "consumer", "Empty", ONE),
        ListRow("東京", "Share", "", "PreparingRebalance", ONE),
        ListRow("evil\x1b[31m\u202egroup", None, "connect", None, ONE),
    )
    return Outcome(rows, (Failure(Scope.BROKER, "3", "it did not answer in 5 s", None, None, "ListGroups", 3),))


@pytest.fixture
def states() -> Outcome[StateRow]:
    return Outcome(
        (
            StateRow("billing", ONE, None, "Empty", None, None, 0, "Classic", "consumer"),
            StateRow("orders", SIX, "uniform", "Stable", 12, 12, 3, "Consumer", "consumer"),
            StateRow("shares", ONE, "simple", "Stable", 2, 2, None, "Share", "share"),
        )
    )


@pytest.fixture
def members() -> Outcome[MemberRow]:
    held = Assignment((TopicPartitions("t0", (0, 1, 2)), TopicPartitions("t1", (4,))))
    raw = Raw(b"\x00\x07junk", "unknown version 7")
    return Outcome(
        (
            MemberRow(
                "orders",
                consumer_id="m-1",
                group_instance_id=None,
                host="/127.0.0.1",
                client_id="app",
                partitions=4,
                current_epoch=12,
                current_assignment=held,
                target_epoch=12,
                target_assignment=held,
                upgraded=True,
                subscription=Subscription(("t0", "t1"), None, held, 5),
                owned_partitions=held,
                rack="rack-a",
            ),
            MemberRow(
                "orders",
                consumer_id="m-2",
                group_instance_id="inst-2",
                host="/127.0.0.1",
                client_id="app",
                partitions=None,
                current_epoch=None,
                current_assignment=Assignment(raw=raw),
                target_epoch=None,
                target_assignment=None,
                upgraded=False,
                subscription=Subscription(raw=raw),
                owned_partitions=Assignment(),
                rack=None,
            ),
            MemberRow(
                "orders",
                consumer_id="m-3",
                group_instance_id=None,
                host="/10.0.0.3",
                client_id="",
                partitions=0,
                current_epoch=11,
                current_assignment=Assignment(),
                target_epoch=12,
                target_assignment=Assignment(),
                upgraded=True,
                subscription=Subscription(regex=r"orders\..*"),
                owned_partitions=Assignment(),
                rack=None,
            ),
        )
    )


@pytest.fixture
def offsets() -> Outcome[OffsetRow]:
    def row(group: str, topic: str, partition: int, **values: Any) -> OffsetRow:
        return OffsetRow(group, topic=topic, partition=partition, log_start_offset=0, **values)

    consumer = {"consumer_id": "app-1-01df69d9", "host": "/127.0.0.1", "client_id": "app-1"}
    beyond = "committed beyond the end of the log"
    idle = {"consumer_id": "app-2-idle", "host": "/10.0.0.3", "client_id": "", "group_instance_id": "i-2"}
    return Outcome(
        (
            row("orders", "t0", 0, leader_epoch=3, current_offset=100, log_end_offset=150, lag=50, **consumer),
            row("orders", "t0", 1, current_offset=160, log_end_offset=150, lag=-10, note=beyond, **consumer),
            row("orders", "t0", 10, log_end_offset=20, **consumer),
            OffsetRow("orders", **idle),
            OffsetRow(
                "billing",
                topic="t1",
                partition=0,
                leader_epoch=0,
                current_offset=1234567,
                log_start_offset=0,
                log_end_offset=1234567,
                lag=0,
            ),
        )
    )
