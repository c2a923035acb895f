"""The first line of ``explain``: the status of a group, its worst partition, and what to do."""

from __future__ import annotations

import random

import pytest

from kgroups.model.explain.facts import GroupFacts, LagFacts
from kgroups.model.explain.findings import problem, warning
from kgroups.model.explain.summary import summarize
from kgroups.model.severity import Severity
from kgroups.model.status import Damage, Known, Status
from kgroups.model.verdicts.judge import judge
from kgroups.model.verdicts.verdict import Adds, Key
from kgroups.model.verdicts.verdict import Severity as VerdictSeverity
from tests.unit.model.explain.groups import facts
from tests.unit.model.verdicts.scenarios import PLANTED

BUSY = Known("Stable", 1, 50, 50)
"""A group with a lag and members."""


def explained(key: Key, known: Known = BUSY) -> GroupFacts:
    partition = PLANTED[key](random.Random(1))
    assert judge(partition).key is key
    return facts()._replace(lag=LagFacts(known, (partition,)))


STATUSES = {
    Key.CRASH_LOOP: Status.STUCK,
    Key.SAME_OFFSET_COMMITTED: Status.STUCK,
    Key.LARGE_RECORD: Status.STUCK,
    Key.NOT_COMMITTING: Status.STUCK,
    Key.THROTTLED: Status.FALLING_BEHIND,
    Key.FALLING_BEHIND: Status.FALLING_BEHIND,
    Key.CATCHING_UP: Status.CATCHING_UP,
    Key.NO_UNREAD_RECORDS: Status.OK,
    Key.PROGRESSING: Status.LAGGING,
    Key.UNKNOWN: Status.LAGGING,
    Key.FETCH_DENIED: Status.LAGGING,
    Key.RECREATED_TOPIC: Status.RECREATED_TOPIC,
    Key.LEADER_EPOCH_AHEAD: Status.RECREATED_TOPIC,
}


@pytest.mark.parametrize(("key", "status"), STATUSES.items())
def test_verdict_of_the_only_lagging_partition_decides(key: Key, status: Status) -> None:
    found = summarize(explained(key), ())
    assert found.status.status is status
    if found.worst:
        assert found.worst.verdict.severity is not VerdictSeverity.INFO


@pytest.mark.parametrize(
    ("key", "known", "adds"),
    [
        (Key.NOT_COMMITTING, BUSY, Adds.RECORD),
        (Key.NEVER_COMMITTED, BUSY, Adds.DEEP),
        (Key.PROGRESSING, BUSY._replace(state="PreparingRebalance"), Adds.DEEP),
        (Key.PROGRESSING, BUSY, None),
    ],
)
def test_next_command_names_the_option_that_it_adds(key: Key, known: Known, adds: Adds | None) -> None:
    found = summarize(explained(key, known), ())
    assert found.adds is adds and (adds is None or (found.next and found.next.endswith(f" {adds}")))


def test_stuck_partition_outweighs_one_that_makes_progress() -> None:
    bad, well = explained(Key.NOT_COMMITTING), explained(Key.PROGRESSING)
    assert bad.lag and well.lag
    both = bad._replace(lag=LagFacts(BUSY, (*well.lag.partitions, *bad.lag.partitions)))
    found = summarize(both, ())
    assert found.status.status is Status.STUCK
    assert found.worst and found.worst.verdict.key is Key.NOT_COMMITTING
    assert found.next == found.worst.verdict.next


def test_one_partition_that_catches_up_does_not_prove_that_the_group_does() -> None:
    some, other = explained(Key.CATCHING_UP), explained(Key.PROGRESSING)
    assert some.lag and other.lag
    both = some._replace(lag=LagFacts(BUSY, (*some.lag.partitions, *other.lag.partitions)))
    assert summarize(both, ()).status.status is Status.LAGGING


def test_group_whose_offsets_were_not_read_is_unknown() -> None:
    found = summarize(facts(), ())
    assert (found.status.status, found.total_lag, found.worst) == (Status.UNKNOWN, None, None)
    assert found.next and found.next.startswith("kgroups lag ")


def test_problem_below_is_a_problem_above() -> None:
    quiet = facts()._replace(lag=LagFacts(Known("Stable", 1, 0, 0)))
    assert summarize(quiet, [warning("a", "b")]).status.status is Status.OK
    found = summarize(quiet, [warning("a", "b"), problem("claimed-twice", "1 partition has two members: t-0")])
    assert found.status[:2] == (Status.AT_RISK, Severity.CRITICAL)
    assert found.status.reason == "1 partition has two members; lag 0"
    named = problem("redelivered", "t-0: 3 records delivered repeatedly; offsets 13 to 14", ["t-0"])
    assert summarize(quiet, [named]).status.reason == "t-0: 3 records delivered repeatedly; lag 0"


def test_problem_does_not_hide_a_critical_status() -> None:
    lost = facts()._replace(lag=LagFacts(Known("Stable", 1, 5, 5, damage=Damage(lost=(("t", 0),)))))
    assert summarize(lost, [problem("a", "b")]).status.status is Status.DATA_LOST


def test_group_in_use_by_a_client_that_is_no_member_is_not_without_member() -> None:
    empty = facts()._replace(lag=LagFacts(Known("Empty", 0, 5, 5)))
    assert summarize(empty, ()).status.status is Status.NO_MEMBER
    assert summarize(empty._replace(outsiders="3 commits"), ()).status.status is Status.LAGGING


def test_critical_reason_names_the_lag() -> None:
    ahead = facts()._replace(lag=LagFacts(Known("Empty", 0, 7, 7, damage=Damage(ahead=(("t", 0),)))))
    assert summarize(ahead, ()).status.reason.endswith("t-0; lag 7")
