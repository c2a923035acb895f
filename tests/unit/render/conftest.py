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
    """What ``write_outcome`` writes, as a string."""

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
                *("orders", "m-1", None, "/127.0.0.1", "app", 4, 12, held, 12, held, True),
                *(Subscription(("t0", "t1"), None, held, 5), held, "rack-a"),
            ),
            MemberRow(
                *("orders", "m-2", "inst-2", "/127.0.0.1", "app", None, None, Assignment(raw=raw), None, None, False),
                *(Subscription(raw=raw), Assignment(), None),
            ),
            MemberRow(
                *("orders", "m-3", None, "/10.0.0.3", "", 0, 11, Assignment(), 12, Assignment(), True),
                *(Subscription(regex=r"orders\..*"), Assignment(), None),
            ),
        )
    )


@pytest.fixture
def offsets() -> Outcome[OffsetRow]:
    who = ("app-1-01df69d9", "/127.0.0.1", "app-1", None)
    return Outcome(
        (
            OffsetRow("orders", "t0", 0, 3, 100, 0, 150, 50, *who, None),
            OffsetRow("orders", "t0", 1, None, 160, 0, 150, -10, *who, "committed beyond the end of the log"),
            OffsetRow("orders", "t0", 10, None, None, 0, 20, None, *who, None),
            OffsetRow("orders", None, None, None, None, None, None, None, "app-2-idle", "/10.0.0.3", "", "i-2", None),
            OffsetRow("billing", "t1", 0, 0, 1234567, 0, 1234567, 0, None, None, None, None, None),
        )
    )
