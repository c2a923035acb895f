"""Verdicts: the planted cause is named, causes have an order, and a healthy partition is never a problem."""

from __future__ import annotations

import random

import pytest

from kgroups.model.verdicts.facts import OpenTransaction, PartitionFacts
from kgroups.model.verdicts.judge import judge
from kgroups.model.verdicts.verdict import Key, Severity
from tests.unit.model.verdicts.scenarios import NOW, PLANTED, healthy, record, stuck

ROUNDS = 10
"""Scenarios of each of 21 causes: 210 in all."""


@pytest.mark.parametrize("key", PLANTED, ids=str)
def test_verdict_names_the_planted_cause(key: Key) -> None:
    for seed in range(ROUNDS):
        facts = PLANTED[key](random.Random(f"{key}-{seed}"))
        verdict = judge(facts)
        assert verdict.key is key, (seed, verdict, facts)
        assert verdict.text and verdict.evidence
        assert (verdict.next is None) == (verdict.severity in (Severity.INFO, Severity.UNKNOWN))


def test_every_key_has_a_scenario_in_order_of_precedence() -> None:
    assert list(PLANTED) == list(Key)


def test_healthy_partition_is_never_a_problem() -> None:
    for seed in range(500):
        assert judge(healthy(random.Random(seed))).severity is Severity.INFO, seed


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"recreated": True, "committed": 10**9}, Key.RECREATED_TOPIC),
        ({"committed": 10**9, "owner": None, "members": 0}, Key.BEYOND_LOG_END),
        ({"first_unread": None, "owner": None, "members": 0}, Key.NO_UNREAD_RECORDS),
        ({"owner": None, "members": 0, "denied": "READ on TOPIC t"}, Key.UNASSIGNED),
        ({"denied": "READ on TOPIC t"}, Key.FETCH_DENIED),
    ],
)
def test_outer_cause_takes_precedence(changes: dict[str, object], first: Key) -> None:
    facts = stuck(random.Random(1), commits=2)._replace(**changes)  # type: ignore[arg-type]  # of fields by name
    assert judge(facts).key is first


@pytest.mark.parametrize(
    ("committed", "owned", "command"),
    [
        (None, False, "kgroups describe"),  # a typing error
        (None, True, "kgroups explain"),
        (5, False, "kgroups delete-offsets"),
    ],
)
def test_missing_partition_without_a_commit_suggests_no_deletion(
    committed: int | None, owned: bool, command: str
) -> None:
    facts = PLANTED[Key.MISSING_PARTITION](random.Random(3))._replace(committed=committed)
    verdict = judge(facts if owned else facts._replace(owner=None))
    assert verdict.next and verdict.next.startswith(command)


def test_first_unread_record_at_offset_zero_counts() -> None:
    facts = stuck(random.Random(2))
    assert facts.history is not None
    history = facts.history._replace(commits=((NOW - 90_000, 0),))
    facts = facts._replace(committed=0, start=0, first_unread=0, record=record(0), history=history)
    assert judge(facts).key is Key.NOT_COMMITTING


def test_consumer_that_commits_rarely_is_not_stuck_before_its_next_commit() -> None:
    facts = stuck(random.Random(3))
    at = facts.committed or 0
    assert facts.history is not None
    history = facts.history._replace(commits=((NOW - 200_000, at - 1), (NOW - 80_000, at)))
    assert judge(facts._replace(history=history)).key is Key.PROGRESSING
    assert judge(facts._replace(history=history, now=NOW + 101_000)).key is Key.NOT_COMMITTING


def test_client_that_is_not_a_member_and_commits_is_not_unassigned() -> None:
    facts: PartitionFacts = healthy(random.Random(4))._replace(owner=None, members=0, state="Empty")
    assert judge(facts).key is Key.PROGRESSING


def test_group_that_reads_uncommitted_records_is_not_blocked_by_a_transaction() -> None:
    facts = PLANTED[Key.OPEN_TRANSACTION](random.Random(5))
    beyond = facts._replace(committed=(facts.last_stable or 0) + 1)
    assert judge(beyond).key is not Key.OPEN_TRANSACTION


@pytest.mark.parametrize("state", ["Ongoing", "PrepareCommit", "PrepareAbort", "CompleteAbort", "Empty", None])
@pytest.mark.parametrize("age", [7_000, 799_000, 801_000, 100 * 60_000])
@pytest.mark.parametrize("named", [True, False])
def test_abort_is_suggested_only_for_a_transaction_that_hangs(state: str | None, age: int, named: bool) -> None:
    began = NOW - age
    one = OpenTransaction(9, 5, began, *(("tx", state, began, 800_000 if state else None, 1) if named else ()))
    facts = PLANTED[Key.OPEN_TRANSACTION](random.Random(5))._replace(transactions=(one,), bootstrap="k1:9092,k2:9092")
    verdict = judge(facts)
    command = verdict.next or ""
    assert command.startswith("kafka-transactions.sh --bootstrap-server k1:9092,k2:9092 ")
    hanging = named and state in ("CompleteAbort", "Empty") and age > 800_000
    assert (" abort " in command) == ("; it is hanging: " in verdict.text) == hanging
    if named and state == "Ongoing":
        assert command.endswith("describe --transactional-id tx")
        assert ("within its timeout of 13m20s" in verdict.text) == (age < 800_000)


def test_aborted_records_are_neither_read_nor_unread() -> None:
    hole = stuck(random.Random(6))._replace(first_unread=None, record=None, owner=None, members=0, state="Empty")
    assert judge(hole).key is Key.NO_UNREAD_RECORDS
    aborted = judge(hole._replace(first_aborted=hole.committed))
    assert (aborted.key, aborted.severity) == (Key.UNKNOWN, Severity.UNKNOWN)
    assert f"only records of aborted transactions are unread, from offset {hole.committed} on" in aborted.text


def test_names_in_the_next_command_are_quoted() -> None:
    facts = stuck(random.Random(6))._replace(group="a b;c", topic="t$x")
    assert judge(facts).next == f"kgroups explain --group 'a b;c' --partition 't$x:{facts.partition}' --show-record"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"owner": None, "members": 0, "state": "Empty"}, Key.UNASSIGNED),  # as if the group was stopped
        ({"owner": None, "state": "PreparingRebalance"}, Key.CRASH_LOOP),
        ({"owner": None, "members": 2}, Key.UNASSIGNED),
        ({"denied": "READ on TOPIC t"}, Key.FETCH_DENIED),
        ({"first_unread": None, "record": None}, Key.NO_UNREAD_RECORDS),
    ],
)
def test_membership_changes_without_progress_are_a_crash_loop_of_this_partition(
    changes: dict[str, object], expected: Key
) -> None:
    facts = PLANTED[Key.CRASH_LOOP](random.Random(4))
    assert judge(facts._replace(**changes)).key is expected  # type: ignore[arg-type]  # of fields by name


def test_consumer_that_commits_the_same_offset_between_restarts_is_in_a_crash_loop() -> None:
    facts = PLANTED[Key.CRASH_LOOP](random.Random(5))
    assert facts.history is not None
    at, changes = facts.committed or 0, facts.history.changes
    again = [(time + 100, at) for time in changes]
    facts = facts._replace(history=facts.history._replace(commits=(*facts.history.commits, *again)))
    for between in ({}, {"owner": None, "members": 0, "state": "Empty"}):
        verdict = judge(facts._replace(**between))  # type: ignore[arg-type]  # of fields by name
        assert verdict.key is Key.CRASH_LOOP and "the same offset was committed" in verdict.text
    often = [(time + 100 * number, at) for time in changes for number in range(9)]
    often_facts = facts._replace(history=facts.history._replace(commits=(*facts.history.commits, *often)))
    assert judge(often_facts).key is Key.SAME_OFFSET_COMMITTED


def test_commit_that_brokers_hide_with_the_topic_is_not_missing() -> None:
    facts = PLANTED[Key.NEVER_COMMITTED](random.Random(6))
    hidden = facts._replace(start=None, end=None, last_stable=None, history=None)
    assert judge(hidden).key is Key.UNKNOWN
    assert "no committed offset" not in judge(hidden._replace(owner=None, members=0)).text


@pytest.mark.parametrize(("ago", "commits_others"), [(1_000, True), (300_000, False), (None, False)])
def test_member_that_commits_other_partitions_commits(ago: int | None, commits_others: bool) -> None:
    facts = stuck(random.Random(2))._replace(other_commit=None if ago is None else NOW - ago)
    verdict = judge(facts)
    assert verdict.key is Key.NOT_COMMITTING
    assert ("commits other partitions" in verdict.text) == commits_others
    assert ("does not commit: " in verdict.text) != commits_others
