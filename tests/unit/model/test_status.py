"""The status of a group: what is proved, and what takes precedence."""

from __future__ import annotations

import itertools

import pytest

from kgroups.model.cluster import Node
from kgroups.model.duration import Milliseconds
from kgroups.model.groups import Group
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.rates import Outlook
from kgroups.model.severity import Severity
from kgroups.model.status import Damage, Known, Left, Status, Trend, judge_status, rank_of, totals_text
from kgroups.model.views.lag_summary import By, shares
from kgroups.model.views.offset_row import GroupOffsets

PLACE = (("t", 0),)
QUIET = Known("Stable", 2, 0, 0)
LAGGING = Known("Stable", 2, 50, 50)
PARTLY = Known("Stable", 2, None, 7, unknown=3)


@pytest.mark.parametrize(
    ("known", "trend", "status", "reason"),
    [
        (QUIET, Trend.UNKNOWN, Status.OK, "nothing is unread"),
        (QUIET, Trend.STUCK, Status.OK, "nothing is unread"),
        (QUIET._replace(state="Empty", members=0), Trend.UNKNOWN, Status.OK, "nothing is unread, no members"),
        (LAGGING, Trend.UNKNOWN, Status.LAGGING, "lag 50; whether it grows is unknown"),
        (LAGGING, Trend.STUCK, Status.STUCK, "lag 50, and it makes no progress"),
        (LAGGING, Trend.FALLING_BEHIND, Status.FALLING_BEHIND, "lag 50, and it grows"),
        (LAGGING, Trend.STEADY, Status.STEADY, "lag 50, and it neither grows nor shrinks"),
        (LAGGING, Trend.CATCHING_UP, Status.CATCHING_UP, "lag 50, and it shrinks"),
        (LAGGING, Trend.KEEPING_UP, Status.OK, "lag 50, as is usual between two commits"),
        (LAGGING._replace(members=0), Trend.FALLING_BEHIND, Status.NO_MEMBER, "lag 50, and the group has no members"),
        (LAGGING._replace(members=None), Trend.UNKNOWN, Status.LAGGING, "lag 50; whether it grows is unknown"),
        (LAGGING._replace(state="Reconciling"), Trend.UNKNOWN, Status.REBALANCING, "the state is Reconciling"),
        (
            QUIET._replace(state="NotReady"),
            Trend.UNKNOWN,
            Status.NOT_READY,
            "the state is NotReady",
        ),
        (PARTLY, Trend.KEEPING_UP, Status.UNKNOWN, "lag at least 7, unknown on 3 partitions"),
        (PARTLY._replace(known_lag=None), Trend.UNKNOWN, Status.UNKNOWN, "lag unknown on 3 partitions"),
        (PARTLY._replace(known_lag=None, unknown=0), Trend.UNKNOWN, Status.UNKNOWN, "lag unknown"),
        (QUIET._replace(stale=True), Trend.KEEPING_UP, Status.UNKNOWN, "not reported by the last refresh"),
        (
            QUIET,
            Trend.MOVED_BACK,
            Status.MOVED_BACK,
            "committed offsets went back, and",
        ),
    ],
)
def test_status_names_the_worst_of_what_is_proved(known: Known, trend: Trend, status: Status, reason: str) -> None:
    found = judge_status(known, trend)
    assert (found.status, found.severity) == (status, status.severity)
    assert found.reason.startswith(reason)


DAMAGE = [
    (Damage(lost=PLACE), Status.DATA_LOST),
    (Damage(missing=PLACE), Status.DELETED_TOPIC),
    (Damage(recreated=PLACE), Status.RECREATED_TOPIC),
    (Damage(ahead=PLACE), Status.BEYOND_LOG_END),
    (Damage(truncated=PLACE), Status.TRUNCATED_LOG),
    (Damage(leaderless=PLACE), Status.NO_LEADER),
    (Damage(unassigned=PLACE), Status.NOT_ASSIGNED),
]


@pytest.mark.parametrize(("damage", "status"), DAMAGE)
def test_damage_is_critical_whatever_the_lag(damage: Damage, status: Status) -> None:
    for known, trend in itertools.product((QUIET, LAGGING, PARTLY), (Trend.UNKNOWN, Trend.KEEPING_UP)):
        found = judge_status(known._replace(damage=damage), trend)
        assert (found.status, found.severity) == (status, Severity.CRITICAL)
        assert "t-0" in found.reason


def test_worse_damage_takes_precedence() -> None:
    for (worse, status), (better, _) in itertools.combinations(DAMAGE, 2):
        both = Damage(*(a or b for a, b in zip(worse, better, strict=True)))
        assert judge_status(QUIET._replace(damage=both)).status is status


def test_group_without_members_is_critical_once_it_is_proved_that_nobody_reads() -> None:
    empty = Known("Empty", 0, 50, 50)
    assert judge_status(empty).severity is Severity.WARNING
    assert judge_status(empty, Trend.STUCK)[:2] == (Status.NO_MEMBER, Severity.CRITICAL)
    assert judge_status(empty, Trend.STUCK).rank < judge_status(empty).rank


def test_statuses_are_declared_from_worst_to_best() -> None:
    order = (Severity.CRITICAL, Severity.WARNING, Severity.UNKNOWN, Severity.OK)
    ranks = [order.index(status.severity) for status in Status]
    assert ranks == sorted(ranks)
    assert [rank_of(status.value) for status in Status] == list(range(len(Status)))


@pytest.mark.parametrize(
    ("trend", "status"),
    [(Trend.FALLING_BEHIND, Status.NOT_SUBSCRIBED), (Trend.STEADY, Status.NOT_SUBSCRIBED), (Trend.STUCK, Status.STUCK)],
)
def test_first_status_that_applies_is_that_of_the_group(trend: Trend, status: Status) -> None:
    known = Known("Stable", 1, 50, 50, left=Left(("old",), unread=5))
    assert judge_status(known, trend).status is status


def test_totals_count_groups_by_severity() -> None:
    statuses = {Status.STUCK: 1, Status.NO_MEMBER: 2, Status.NO_LEADER: 2, Status.LAGGING: 1, Status.OK: 1_000}
    text = "1,006 groups: 3 critical, 2 warning, 1 unknown, 1,000 ok; total lag"
    assert totals_text(statuses, 1_365, True) == f"{text} 1,365"
    assert totals_text(statuses, 1_365, False) == f"{text} at least 1,365"
    short = "1,006 groups: 3 critical, 2 warning, 1 unknown, 1,000 ok; lag"
    assert totals_text(statuses, 1_365, True, short=True) == f"{short} 1,365"
    assert totals_text(statuses, 1_365, False, short=True) == f"{short} >= 1,365"


@pytest.mark.parametrize(
    ("future", "trend"),
    [
        (Outlook(), Trend.UNKNOWN),
        (Outlook(Milliseconds(0)), Trend.UNKNOWN),
        (Outlook(Milliseconds(9)), Trend.CATCHING_UP),
        (Outlook(falls_behind=True), Trend.FALLING_BEHIND),
        (Outlook(steady=True), Trend.STEADY),
        (Outlook(steady=True, usual=True), Trend.KEEPING_UP),
    ],
)
def test_trend_of_an_outlook(future: Outlook, trend: Trend) -> None:
    assert future.trend is trend


@pytest.mark.parametrize(("stable", "status"), [(False, Status.BEYOND_LOG_END), (True, Status.OK)])
def test_commit_beyond_the_last_stable_offset_is_no_damage(stable: bool, status: Status) -> None:
    group = Group("g", "Classic", "Stable", "consumer", "range", Node(0, "h", 1), None)
    logs = Logs({"t": {0: LogOffsets(0, 90)}}, stable=stable, high={"t": {0: 100}} if stable else {})
    (share,) = shares(GroupOffsets(group, GroupCommits("g", {"t": (Commit(0, 100, 0),)}), logs), By.GROUP)
    assert judge_status(share.known(share.tally())).status is status


@pytest.mark.parametrize("trend", Trend)
@pytest.mark.parametrize("known", [QUIET, LAGGING, PARTLY])
def test_nothing_is_well_if_an_open_transaction_hides_what_is_unread(known: Known, trend: Trend) -> None:
    held = judge_status(known._replace(held_back="t-0: 90 offsets wait behind an open transaction"), trend)
    without = judge_status(known, trend)
    assert held == without if without.severity is not Severity.OK else held.status is Status.UNKNOWN
    assert without.severity is not Severity.OK or "but t-0: 90 offsets wait" in held.reason
