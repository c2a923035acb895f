"""Findings of check rules for one group."""

from __future__ import annotations

from typing import Any

import pytest

from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.headroom import Policy, Retention
from kgroups.model.health.findings import Finding, Proof, Seen
from kgroups.model.health.judge import judge
from kgroups.model.health.limits import Limits
from kgroups.model.health.report import report_of
from kgroups.model.health.trend import suspects
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.operations.commit_history import History
from kgroups.model.outcome import Failure, Scope
from kgroups.model.severity import Minimum, Severity, Threshold, worst
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.views.lag_summary import Ages
from kgroups.model.views.offset_row import GroupOffsets

NOW = 1_000_000
OK, WARNING, CRITICAL, UNKNOWN = Severity
NO_RECORDS = "their records are not in __consumer_offsets"
ALONE = {"a": (0,)}
"""Who holds the only partition that is committed."""


def seen(
    commits: dict[int, int] | None = None,
    ends: dict[int, int] | None = None,
    held: dict[str, tuple[int, ...]] | None = None,
    *,
    now: int = NOW,
    committed_at: dict[int, int] | None = None,
    unread: dict[int, int] | None = None,
) -> Seen:
    """Topic ``t``: what is committed, where the log ends, who holds what; when each first unread record was written.

    Members commit every second, the last time at ``committed_at``.
    """
    commits = {0: 90, 1: 100} if commits is None else commits
    ends = {0: 100, 1: 100} if ends is None else ends
    held = {"a": (0,), "b": (1,)} if held is None else held
    members = tuple(
        Member(name, "c", "/h", assignment_of([("t", some)] if some else [])) for name, some in held.items()
    )
    group = Group("g", "Classic", "Stable" if held else "Empty", "consumer", "range", Node(0, "h", 1), members)
    found = {Position("t", at, commits[at]): FirstUnread(commits[at], when) for at, when in (unread or {}).items()}
    logs = Logs({"t": {at: LogOffsets(0, end) for at, end in ends.items()}}, {})
    offsets = GroupOffsets(group, GroupCommits("g", {"t": tuple(Commit(*each) for each in commits.items())}), logs)
    moments = None if committed_at is None else {("t", at): when for at, when in committed_at.items()}
    histories = {
        place: History([(when - 1_000, commits[place[1]] - 1), (when, commits[place[1]])])
        for place, when in (moments or {}).items()
    }
    return Seen(offsets, now, Ages(found, now), moments, histories=histories)


def one(limits: Limits, *looks: Seen) -> Finding:
    """The finding beside that the group exists."""
    first, finding = judge(looks or [seen()], limits)
    assert (first.check, first.severity) == ("exists", OK)
    return finding


@pytest.mark.parametrize(
    ("limits", "severity", "printed"),
    [
        (Limits(states=frozenset({"Stable", "Empty"})), OK, "Stable"),
        (Limits(states=frozenset({"Empty"})), CRITICAL, "Stable; Empty is expected"),
        (Limits(type="Classic"), OK, "Classic"),
        (Limits(type="Consumer"), CRITICAL, "Classic; Consumer is expected"),
        (Limits(assignor="range"), OK, "range"),
        (Limits(assignor="uniform"), CRITICAL, "range; uniform is expected"),
        (Limits(members=2), OK, "2 members"),
        (Limits(members=3), CRITICAL, "2 members; exactly 3 expected"),
        (Limits(min_members=2), OK, "2 members"),
        (Limits(min_members=3), CRITICAL, "2 members; at least 3 expected"),
        (Limits(assigned=True), OK, "each of 2 partitions has one member"),
        (Limits(lag=Threshold(5, 20)), WARNING, "lag 10 is above 5"),
        (Limits(lag=Threshold(critical=9)), CRITICAL, "lag 10 is above 9"),
        (Limits(lag=Threshold(critical=10)), OK, "lag 10"),
        (Limits(partition_lag=Threshold(critical=9)), CRITICAL, "t-0: partition lag 10 is above 9"),
        (Limits(topic_lag=(("t*", Threshold(1, 9)),)), CRITICAL, "lag 10 is above 9"),
        (Limits(topic_lag=(("x*", Threshold(1, 9)),)), UNKNOWN, "the group has no topic that matches 'x*'"),
        (Limits(commit_age=Threshold(1)), UNKNOWN, f"commit age unknown on 2 partitions: {NO_RECORDS}"),
        (Limits(time_lag=Threshold(1)), UNKNOWN, "t-1: time lag 0, unknown on 1 partition"),
    ],
)
def test_judge_one_limit_has_severity_and_message(limits: Limits, severity: Severity, printed: str) -> None:
    finding = one(limits)
    assert (finding.severity, finding.message) == (severity, printed)


def test_judge_assigned_reports_missing_and_duplicate_members() -> None:
    finding = one(Limits(assigned=True), seen(ends={0: 100, 1: 100, 2: 7}, held={"a": (0, 1), "b": (1,)}))
    assert finding.severity is CRITICAL
    assert finding.message == "1 partition not assigned: t-2; 1 partition assigned twice: t-1"


def test_judge_lag_with_unknown_partition_is_unknown_unless_exceeded() -> None:
    hole = seen({0: 90, 1: 5}, {0: 100})
    assert one(Limits(lag=Threshold(critical=50)), hole).severity is UNKNOWN
    assert one(Limits(lag=Threshold(critical=9)), hole).severity is CRITICAL
    assert one(Limits(partition_lag=Threshold(critical=50)), hole).severity is UNKNOWN


def test_judge_lag_without_commits_and_partitions_is_unknown() -> None:
    nothing = seen({}, {}, {})
    for limits in (Limits(lag=Threshold(critical=0)), Limits(partition_lag=Threshold(critical=0))):
        assert one(limits, nothing).severity is UNKNOWN
        assert one(limits._replace(allow_uncommitted=True), nothing).severity is OK


def test_judge_lag_beyond_the_log_end_is_no_credit_and_critical() -> None:
    found = seen({0: 1_100, 1: 100}, {0: 100, 1: 1_000})
    finding = one(Limits(lag=Threshold(critical=10_000)), found)
    assert (finding.severity, finding.value) == (CRITICAL, 900)
    assert finding.message == "lag 900, committed beyond the end of the log on 1 partition: t-0"
    finding = one(Limits(partition_lag=Threshold(critical=10_000)), seen({0: 1_100}, {0: 100}, ALONE))
    assert (finding.severity, finding.value) == (CRITICAL, None)
    assert one(Limits(time_lag=Threshold(critical=10_000)), found).severity is UNKNOWN


def test_judge_time_lag_and_commit_age() -> None:
    late = seen(unread={0: NOW - 7000}, committed_at={0: NOW - 5000, 1: NOW - 1000})
    assert one(Limits(time_lag=Threshold(critical=6000)), late).message == "t-0: time lag 7s is above 6s"
    age = one(Limits(commit_age=Threshold(4000, 6000)), late)
    assert (age.severity, age.value, age.unit) == (WARNING, 5000, "ms")
    assert one(Limits(commit_age=Threshold(critical=9000)), seen(committed_at={0: NOW})).severity is UNKNOWN


RETAINED = Policy(True, False, 60_000, None, 1_000, 1_000)


def retained(policy: Policy | None = RETAINED, ends: dict[int, int] | None = None, age: int = 20_000) -> Seen:
    look = seen(ends=ends, unread={0: NOW - age})
    retention = Retention({"t": policy} if policy else {}, unknown={"t": "no ACL"})
    return look._replace(ages=look.ages._replace(retention=retention))


@pytest.mark.parametrize(
    ("limit", "severity", "message"),
    [
        (Minimum(50_000, 30_000), WARNING, "t-0: headroom 40s is below 50s"),
        (Minimum(50_000, 45_000), CRITICAL, "t-0: headroom 40s is below 45s"),
        (Minimum(critical=40_000), OK, "t-0: headroom 40s"),
    ],
)
def test_judge_headroom(limit: Minimum, severity: Severity, message: str) -> None:
    found = one(Limits(headroom=limit), retained())
    assert (found.severity, found.message, found.unit) == (severity, message, "ms")
    assert found.value == 40_000


def test_judge_headroom_without_limit_or_unread_record_is_ok() -> None:
    limits = Limits(headroom=Minimum(critical=40_000))
    assert one(limits, retained(RETAINED._replace(retention_ms=None)))[2:4] == (OK, "unlimited")
    assert one(limits, retained(ends={0: 90, 1: 100}))[2:4] == (OK, "nothing unread")


def test_judge_headroom_that_is_unknown_is_not_ok() -> None:
    limits = Limits(headroom=Minimum(critical=40_000))
    assert one(limits, retained(None))[2:4] == (UNKNOWN, "headroom unknown on 1 partition: no ACL")
    hole = retained(ends={0: 100})
    assert one(limits, hole)[2:4] == (UNKNOWN, "t-0: headroom 40s, unknown on 1 partition: no log end offset")
    late = retained(ends={0: 100}, age=30_000)
    assert one(limits, late).severity is CRITICAL


def expiring(at: dict[int, int], why: str | None = None, held: dict[str, tuple[int, ...]] | None = None) -> Seen:
    look = seen(held=held or {})
    return look._replace(expires_at={("t", place): when for place, when in at.items()}, expiry_unread=why)


def test_judge_offset_headroom() -> None:
    limits = Limits(offset_headroom=Minimum(9_000, 5_000))
    found = one(limits, expiring({0: NOW + 7_000, 1: NOW + 20_000}))
    assert (found.severity, found.message) == (WARNING, "t-0: offset headroom 7s is below 9s")
    assert one(limits, expiring({0: NOW - 7_000, 1: NOW})).message == "t-0: offset headroom 0 is below 5s"
    assert one(limits, expiring({0: NOW + 9_000, 1: NOW + 20_000})).severity is OK
    members = expiring({}, held=ALONE)
    assert one(limits, members)[2:4] == (OK, "offsets of topics that members subscribe to do not expire")


def test_judge_offset_headroom_that_is_unknown_is_not_ok() -> None:
    limits = Limits(offset_headroom=Minimum(critical=5_000))
    gap = expiring({0: NOW + 9_000}, "not authorized")
    assert one(limits, gap)[2:4] == (UNKNOWN, "t-0: offset headroom 9s, unknown on 1 partition: not authorized")
    assert one(limits, expiring({0: NOW + 1_000})).severity is CRITICAL
    assert one(limits, expiring({}))[2:4] == (
        UNKNOWN,
        "offset headroom unknown on 2 partitions: their records are not in __consumer_offsets",
    )


@pytest.mark.parametrize(
    ("second", "printed"),
    [
        (seen({0: 90, 1: 100}, {0: 110, 1: 100}, now=NOW + 2000), "STALL in 2s: t-0 (stuck)"),
        (seen({0: 90, 1: 100}, {0: 110, 1: 100}, {}, now=NOW + 2000), "STOP in 2s: t-0 (stuck)"),
        (seen({0: 90}, {0: 110}, now=NOW + 2000, committed_at={0: NOW + 1}), "STALL in 2s: t-0 (stuck)"),
        (seen({0: 90}, {0: 110}, now=NOW + 2000, committed_at={0: NOW - 1}), "STOP in 2s: t-0 (stuck)"),
        (seen({0: 91, 1: 100}, {0: 130, 1: 100}, now=NOW + 2000), "WARN in 2s: t-0 (falling behind)"),
        (seen({0: 99, 1: 100}, {0: 100, 1: 100}, now=NOW + 2000), "OK in 2s"),
        (seen({0: 10, 1: 1}, {0: 100, 1: 100}, now=NOW + 2000), "REWIND in 2s: t-0, t-1 (moved back)"),
    ],
)
def test_judge_trend_names_the_verdict(second: Seen, printed: str) -> None:
    finding = one(Limits(trend=True), seen(), second)
    assert finding.message == printed
    assert finding.severity is {"OK": OK, "WARN": WARNING}.get(printed.split()[0], CRITICAL)


def test_judge_trend_compares_broker_times_only() -> None:
    first = seen({0: 90}, {0: 110}, ALONE, committed_at={0: NOW + 60_000})
    again = seen({0: 90}, {0: 110}, ALONE, now=NOW + 2000, committed_at={0: NOW + 60_000})
    assert one(Limits(trend=True), first, again).message == "STOP in 2s: t-0 (stuck)"
    late = again._replace(committed_at={("t", 0): NOW + 60_001})
    assert one(Limits(trend=True), first, late).message == "STALL in 2s: t-0 (stuck)"


def test_judge_unread_commit_times_are_explained() -> None:
    first = seen({0: 90}, {0: 110}, ALONE)
    again = seen({0: 90}, {0: 110}, ALONE, now=NOW + 2000)._replace(commits_unread="no ACL")
    trend = one(Limits(trend=True), first, again)
    assert (trend.severity, trend.message) == (
        UNKNOWN,
        "STALL? in 2s: t-0; the times of commits are unknown: no ACL",
    )
    idle = one(
        Limits(trend=True), seen({0: 90}, {0: 110}, {}), again._replace(offsets=seen({0: 90}, {0: 110}, {}).offsets)
    )
    assert (idle.severity, idle.message) == (UNKNOWN, "STOP? in 2s: t-0; the times of commits are unknown: no ACL")
    age = one(Limits(commit_age=Threshold(1)), again)
    assert (age.severity, age.message) == (UNKNOWN, "commit age unknown on 1 partition: no ACL")


def test_judge_commit_not_found_is_at_least_as_old_as_the_records_read() -> None:
    """A commit older than the records read has a minimum age, and the trend window was read completely."""
    first, again = seen({0: 90}, {0: 110}, ALONE), seen({0: 90}, {0: 110}, ALONE, now=NOW + 2000)
    again = again._replace(commits_unread="stopped at 9 bytes", commits_before=NOW - 60_000)
    age = one(Limits(commit_age=Threshold(critical=61_000)), again)
    assert (age.severity, age.value) == (CRITICAL, 62_000)
    assert age.message == "t-0: commit age at least 1m2s is above 1m1s"
    kept = one(Limits(commit_age=Threshold(5, 63_000)), again)
    assert (kept.severity, kept.message) == (UNKNOWN, "commit age unknown on 1 partition: stopped at 9 bytes")
    long_after = again._replace(now=NOW + 30_000)
    assert one(Limits(trend=True), first, long_after).message == "STOP in 30s: t-0 (stuck)"
    within = again._replace(commits_before=NOW + 1)
    assert one(Limits(trend=True), first, within).message.startswith("STALL? in 2s: t-0; the times of commits are")


@pytest.mark.parametrize(
    ("commits", "seconds", "printed"),
    [
        ([(-70_000, 1), (-10_000, 90)], 30, "STOP? in 30s: t-0; commits are up to 1m apart, and the next one is not "),
        ([(-70_000, 1), (-10_000, 90)], 90, "STOP in 1m30s: t-0 (stuck)"),
        ([(-7_000, 1), (-5_000, 90)], 3, "STOP in 3s: t-0 (stuck)"),
        ([(-7_000, 1), (-5_000, 90)], 2, "STOP? in 2s: t-0; commits are up to 2s apart"),
        ([(-4_000, 90)], 20, "STOP? in 20s: t-0; its members have not committed twice so far"),
        ([(-4_000, 90)], 30, "STOP in 30s: t-0 (stuck)"),
        ([], 29, "STOP? in 29s: t-0; its members have not committed twice so far"),
        ([], 30, "STOP in 30s: t-0 (stuck)"),
    ],
)
def test_judge_stop_only_if_the_next_commit_is_overdue(
    commits: list[tuple[int, int]], seconds: int, printed: str
) -> None:
    """A group that commits once a minute has not stopped within half a minute (explain has the same rule)."""
    first = seen({0: 90}, {0: 110}, ALONE, committed_at={0: NOW - 10_000})
    again = seen({0: 90}, {0: 110}, ALONE, now=NOW + seconds * 1_000, committed_at={0: NOW - 10_000})
    history = History([(NOW + at, offset) for at, offset in commits])
    again = again._replace(proofs={("t", 0): Proof(True, first=FirstUnread(90, NOW))}, histories={("t", 0): history})
    assert one(Limits(trend=True), first, again).message.startswith(printed)


@pytest.mark.parametrize(
    ("pause", "commits", "waited", "printed"),
    [
        *((4_000, 2, 5_000, "STOP? in 5s"), (4_000, 2, 35_000, "STOP in"), (60_000, 5, 35_000, "STOP? in 35s")),
        *((60_000, 4, 5_000, "STOP? in 5s"), (60_000, 4, 35_000, "STOP in"), (4_000_000, 9, 35_000, "STOP in")),
    ],
)
def test_judge_stop_of_a_group_without_members_requires_that_no_client_commits(
    pause: int, commits: int, waited: int, printed: str
) -> None:
    """Flink commits once for each checkpoint, and is not a member; a single commit may be its first."""
    first = seen({0: 90}, {0: 110}, {}, committed_at={0: NOW})
    again = seen({0: 90}, {0: 110}, {}, now=NOW + waited, committed_at={0: NOW})
    history = History([(NOW - at * pause, 90 - at) for at in reversed(range(commits))])
    again = again._replace(proofs={("t", 0): Proof(True, first=FirstUnread(90, NOW))}, histories={("t", 0): history})
    assert one(Limits(trend=True), first, again).message.startswith(printed)


def test_judge_known_age_takes_precedence_over_lower_bound() -> None:
    found = seen({0: 90, 1: 90}, {0: 90, 1: 90}, committed_at={0: NOW - 9000})._replace(commits_before=NOW - 5000)
    assert (
        one(Limits(commit_age=Threshold(critical=4000)), found).message
        == f"t-0: commit age 9s is above 4s, unknown on 1 partition: {NO_RECORDS}"
    )
    late = found._replace(committed_at={("t", 0): NOW - 1000})
    assert one(Limits(commit_age=Threshold(critical=4000)), late).message == "t-1: commit age at least 5s is above 4s"


def test_judge_commit_age_in_the_future_is_zero() -> None:
    ahead = seen({0: 90}, {0: 90}, ALONE, committed_at={0: NOW + 500})
    assert one(Limits(commit_age=Threshold(critical=1)), ahead).value == 0


def test_judge_trend_without_a_commit_is_unknown() -> None:
    """No consumer may be late without a sign: it has a member, and its log has records."""
    first, second = seen({0: 99}, {0: 99, 1: 50}), seen({0: 100}, {0: 100, 1: 50}, now=NOW + 2000)
    finding = one(Limits(trend=True), first, second)
    assert (finding.severity, finding.message) == (
        UNKNOWN,
        "OK in 2s, unknown on 1 partition: no committed offset",
    )
    allowed = one(Limits(trend=True, allow_uncommitted=True), first, second)
    assert (allowed.severity, allowed.message) == (OK, "OK in 2s")
    empty, full = seen({0: 99}, {0: 99, 1: 0}), seen({0: 100}, {0: 100, 1: 0}, now=NOW + 2000)
    assert one(Limits(trend=True), empty, full).severity is OK
    nothing = seen({}, {0: 99}, {})
    assert one(Limits(trend=True), nothing, nothing).message == "trend unknown on 1 partition: no committed offset"


RULES = [
    (Limits(lag=Threshold(critical=5)), "lag", "lag 0 on 1 partition, unknown on 5"),
    (Limits(topic_lag=(("t*", Threshold(critical=5)),)), "lag", "lag 0 on 1 partition, unknown on 5"),
    (
        Limits(partition_lag=Threshold(critical=5)),
        "partition lag",
        "t-0: partition lag 0, unknown on 5 partitions",
    ),
    (Limits(time_lag=Threshold(critical=5)), "time lag", "t-0: time lag 0, unknown on 5 partitions"),
    (
        Limits(commit_age=Threshold(critical=5)),
        "commit age",
        "t-0: commit age 0, unknown on 5 partitions",
    ),
    (Limits(trend=True), "trend", "OK in 0, unknown on 5 partitions"),
]
SIX = dict.fromkeys(range(6), 500)


@pytest.mark.parametrize(("limits", "word", "printed"), RULES, ids=[word for _, word, _ in RULES])
def test_judge_uncommitted_partitions_are_unknown_with_and_without_members(
    limits: Limits, word: str, printed: str
) -> None:
    held = {"a": tuple(SIX)}
    none, some = seen({}, SIX, held), seen({0: 500}, SIX, held, committed_at={0: NOW})
    finding = one(limits, none)
    assert (finding.severity, finding.message, finding.value) == (
        UNKNOWN,
        f"{word} unknown on 6 partitions: no committed offset",
        None,
    )
    finding = one(limits, some)
    assert (finding.severity, finding.message) == (UNKNOWN, f"{printed}: no committed offset")
    assert finding.value is None
    allowed = limits._replace(allow_uncommitted=True)
    assert one(allowed, none).severity is one(allowed, some).severity is OK
    dead = seen({0: 500}, SIX, {}, committed_at={0: NOW})
    assert (one(limits, dead).severity, one(limits, dead).message) == (UNKNOWN, finding.message)
    empty = seen({0: 500}, {0: 500} | dict.fromkeys(range(1, 6), 0), held, committed_at={0: NOW})
    assert one(limits, empty).severity is OK
    holding_nothing = seen({}, {}, {"a": ()})
    if not limits.topic_lag:
        assert one(limits, holding_nothing).message == f"{word} unknown: no committed offset"


@pytest.mark.parametrize(("limits", "word", "printed"), RULES, ids=[word for _, word, _ in RULES])
def test_judge_undecoded_assignments_make_lag_unknown(limits: Limits, word: str, printed: str) -> None:
    fine = seen({0: 500}, {0: 500}, ALONE, committed_at={0: NOW})
    finding = one(limits, undecodable(fine))
    assert finding.severity is UNKNOWN
    assert finding.message.endswith("the assignment of 1 member cannot be decoded")
    alone = one(limits, undecodable(seen({}, {}, {})))
    if not limits.topic_lag:
        assert alone.message == f"{word} unknown: the assignment of 1 member cannot be decoded"


def undecodable(look: Seen) -> Seen:
    """Add a member whose assignment cannot be decoded."""
    group = look.offsets.group
    odd = Member("odd", "c", "/h", Assignment(raw=Raw(b"?", "it ends too soon")))
    members = (*(group.members or ()), odd)
    return look._replace(offsets=look.offsets._replace(group=group._replace(members=members)))


def test_judge_known_part_above_the_limit_is_critical() -> None:
    finding = one(Limits(lag=Threshold(critical=5)), seen({0: 90}, {0: 100, 1: 9}, {"a": (0, 1)}))
    assert (finding.severity, finding.value) == (CRITICAL, None)
    assert finding.message == "lag 10 on 1 partition is above 5, unknown on 1: no committed offset"


def test_judge_unknown_reasons_are_counted() -> None:
    look = seen({0: 90, 1: 5}, {0: 100, 2: 9}, {"a": (0, 1, 2)})
    finding = one(Limits(lag=Threshold(critical=50)), look)
    assert finding.message == ("lag 10 on 1 partition, unknown on 2: no log end offset (1), no committed offset (1)")


def test_judge_assigned_with_incomplete_data_is_unknown() -> None:
    rule = Limits(assigned=True)

    def printed(look: Seen) -> tuple[Severity, str]:
        finding = one(rule, look)
        return finding.severity, finding.message

    def of(look: Seen, **fields: Any) -> Seen:
        return look._replace(offsets=look.offsets._replace(group=look.offsets.group._replace(**fields)))

    assert printed(undecodable(seen({}, {}, {}))) == (UNKNOWN, "the assignment of 1 member cannot be decoded")
    assert printed(undecodable(seen({0: 1, 1: 1}, {0: 1, 1: 1}, ALONE)))[0] is UNKNOWN
    twice = undecodable(seen({0: 1}, {0: 1}, {"a": (0,), "b": (0,)}))
    assert printed(twice) == (
        CRITICAL,
        "1 partition assigned twice: t-0; the assignment of 1 member cannot be decoded",
    )
    assert printed(of(seen({}, {}, {"a": ()}), protocol_type="connect")) == (
        UNKNOWN,
        "does not apply: members of protocol type 'connect' have no partitions",
    )
    assert printed(of(seen(), members=None))[0] is UNKNOWN
    assert printed(seen({}, {}, {})) == (
        UNKNOWN,
        "the group has no partitions: no committed offset, and no assignment",
    )


@pytest.mark.parametrize(
    ("proof", "severity", "printed"),
    [
        (Proof(True), CRITICAL, "STOP in 2s: t-0 (stuck)"),
        (Proof(False), OK, "OK in 2s"),
        (Proof(None, "no leader"), UNKNOWN, "STOP? in 2s: t-0; no leader"),
    ],
)
def test_judge_trend_requires_an_unread_record(proof: Proof, severity: Severity, printed: str) -> None:
    first = seen({0: 90}, {0: 91}, {})
    again = seen({0: 90}, {0: 91}, {}, now=NOW + 2000)
    assert suspects([first, again]) == {("t", 0): Position("t", 0, 90)}
    finding = one(Limits(trend=True), first, again._replace(proofs={("t", 0): proof}))
    assert (finding.severity, finding.message) == (severity, printed)


def test_judge_trend_without_second_log_end_is_unknown() -> None:
    first, again = seen({0: 90}, {0: 90}, ALONE), seen({0: 90}, {}, ALONE, now=NOW + 2000)
    finding = one(Limits(trend=True), first, again)
    assert (finding.severity, finding.message) == (UNKNOWN, "UNKNOWN in 2s: t-0")


def shared(start: int, lag: int, now: int = NOW, held: tuple[int, ...] = (0,)) -> Seen:
    """A share group of one member or two, at an offset of t-0."""
    before = seen({0: start}, {0: start + lag + 3}, {"a": held, "b": held}, now=now)
    group = before.offsets.group._replace(type="Share", protocol_type="share")
    commits = GroupCommits("g", {"t": (Commit(0, start),)}, lags={("t", 0): lag})
    return before._replace(offsets=before.offsets._replace(group=group, commits=commits))


@pytest.mark.parametrize(
    ("limits", "severity", "printed"),
    [
        (Limits(assigned=True), OK, "each of 1 partition has a member"),
        (Limits(lag=Threshold(critical=9)), CRITICAL, "lag 10 is above 9"),
        (Limits(partition_lag=Threshold(critical=9)), CRITICAL, "t-0: partition lag 10 is above 9"),
        (Limits(commit_age=Threshold(critical=9)), UNKNOWN, "share groups do not commit offsets"),
    ],
)
def test_judge_share_group_limits(limits: Limits, severity: Severity, printed: str) -> None:
    finding = one(limits, shared(90, 10))
    assert (finding.severity, finding.message) == (severity, printed)


def test_judge_share_group_partition_without_member_is_critical() -> None:
    assert one(Limits(assigned=True), shared(90, 10, held=())).severity is CRITICAL


def test_judge_share_group_trend() -> None:
    def trend(*looks: Seen) -> str:
        return one(Limits(trend=True), *looks).message

    assert trend(shared(90, 10), shared(95, 5, NOW + 2000)) == "OK in 2s"
    assert trend(shared(90, 10), shared(90, 12, NOW + 2000)) == "STALL in 2s: t-0 (stuck)"
    assert trend(shared(90, 10), shared(80, 20, NOW + 2000)) == "REWIND in 2s: t-0 (moved back)"


def test_judge_failures_become_findings() -> None:
    gone = Failure(Scope.GROUP, "g", "the group does not exist", "GROUP_ID_NOT_FOUND", 69)
    down = Failure(Scope.BROKER, "2", "connection refused")
    refused = Failure(Scope.GROUP, "h", "not authorized", "GROUP_AUTHORIZATION_FAILED", 30, "DescribeGroups")
    report = report_of((), (refused, gone, down), NOW)
    assert [(each.group, each.check, each.severity) for each in report.findings] == [
        ("", "answered", UNKNOWN),
        ("g", "exists", CRITICAL),
        ("h", "answered", UNKNOWN),
    ]
    assert report.severity is CRITICAL
    assert [each.group for each in report.bad] == ["g", "", "h"]


@pytest.mark.parametrize("name", ["2", "broker 2"])
def test_judge_failed_broker_is_named_once(name: str) -> None:
    (finding,) = report_of((), [Failure(Scope.BROKER, name, "connection refused")], NOW).findings
    assert finding.message == "broker 2: connection refused"


def test_judge_worst_severity_order() -> None:
    assert worst([WARNING, UNKNOWN, OK]) is UNKNOWN
    assert worst([CRITICAL, UNKNOWN]) is CRITICAL
    assert report_of((), (), NOW).severity is UNKNOWN


def test_judge_offset_headroom_of_topics_that_a_group_left() -> None:
    """KIP-211: the offsets of topics that no member subscribes to expire although the group has members."""
    limit = Limits(offset_headroom=Minimum(critical=60_000))
    now = seen()
    group = now.offsets.group
    members = tuple(each._replace(subscription=Subscription(("t",))) for each in group.members or ())
    commits = GroupCommits("g", {**now.offsets.commits.topics, "old": (Commit(0, 1),)})
    offsets = now.offsets._replace(group=group._replace(members=members), commits=commits)
    soon = now._replace(offsets=offsets, expires_at={("old", 0): NOW + 5_000})
    _, subscribed, finding = judge([soon], limit)
    assert (subscribed.check, subscribed.severity) == ("subscribed", UNKNOWN)
    assert finding[2:4] == (CRITICAL, "old-0: offset headroom 5s is below 1m")
    owned = (members[0]._replace(assignment=assignment_of([("old", [0])])), *members[1:])  # KAFKA-12759
    kept = now._replace(offsets=offsets._replace(group=group._replace(members=owned)), expires_at=soon.expires_at)
    assert one(limit, kept)[2:4] == (CRITICAL, "old-0: offset headroom 5s is below 1m")
    rebalancing = offsets._replace(group=offsets.group._replace(state="PreparingRebalance", members=group.members))
    assert one(limit, now._replace(offsets=rebalancing))[2:4] == (
        UNKNOWN,
        "unknown: the subscriptions of members are not reported (PreparingRebalance): old",
    )


@pytest.mark.parametrize(("allowed", "severity"), [(False, UNKNOWN), (True, OK)])
def test_judge_text_about_topics_that_a_group_left_agrees_with_its_severity(allowed: bool, severity: Severity) -> None:
    now = seen()
    offsets = now.offsets
    members = tuple(each._replace(subscription=Subscription(("t",))) for each in offsets.group.members or ())
    commits = GroupCommits("g", {**offsets.commits.topics, "old": (Commit(0, 1),)})
    logs = Logs({**offsets.logs.offsets, "old": {0: LogOffsets(0, 1), 1: LogOffsets(0, 5)}})
    left = offsets._replace(group=offsets.group._replace(members=members), commits=commits, logs=logs)
    _, found = judge([now._replace(offsets=left)], Limits(allow_uncommitted=allowed))
    assert (found.check, found.severity) == ("subscribed", severity)
    assert ("unknown whether records are unread" in found.message) is not allowed


@pytest.mark.parametrize("limits", [Limits(lag=Threshold(5, 20)), Limits(partition_lag=Threshold(5, 20))])
def test_judge_number_within_limits_is_omitted_if_a_commit_is_ahead(limits: Limits) -> None:
    """Performance data with lag=0 would say that nothing is wrong."""
    ahead = one(limits, seen({0: 150}, {0: 100}, ALONE))
    assert (ahead.severity, ahead.value) == (CRITICAL, None)
    both = one(limits, seen({0: 150, 1: 50}, {0: 100, 1: 100}))
    assert (both.severity, both.value) == (CRITICAL, 50)


LAGS = (
    Limits(lag=Threshold(200)),
    Limits(partition_lag=Threshold(200)),
    Limits(topic_lag=(("t", Threshold(200)),)),
)


@pytest.mark.parametrize("limits", LAGS)
@pytest.mark.parametrize(
    ("committed", "severity"), [(9, CRITICAL), (59, CRITICAL), (60, OK), (100, OK), (101, CRITICAL)]
)
def test_judge_lag_within_limits_is_critical_if_records_were_lost(
    limits: Limits, committed: int, severity: Severity
) -> None:
    sample = seen({0: committed}, {0: 100}, ALONE)
    logs = Logs({"t": {0: LogOffsets(60, 100)}})
    finding = one(limits, sample._replace(offsets=sample.offsets._replace(logs=logs)))
    assert finding.severity is severity
    assert ("deleted before they were read" in finding.message) == (committed < 60)


@pytest.mark.parametrize("limits", [*LAGS, Limits(time_lag=Threshold(60_000)), Limits(trend=True)])
@pytest.mark.parametrize(
    ("committed", "stable", "pending", "severity"),
    [
        (100, 100, False, OK),
        (100, 10, False, OK),  # a consumer that does not skip open transactions
        (99, 10, False, UNKNOWN),
        (10, 10, False, UNKNOWN),
        (100, 100, True, UNKNOWN),
    ],
)
def test_judge_lag_is_unknown_if_an_open_transaction_hides_what_is_unread(
    limits: Limits, committed: int, stable: int, pending: bool, severity: Severity
) -> None:
    sample = seen({0: committed}, {0: 100}, ALONE, committed_at={0: NOW - 10})
    logs = Logs({"t": {0: LogOffsets(0, stable)}}, stable=True, high={"t": {0: 100}})
    offsets = sample.offsets._replace(logs=logs)
    offsets = offsets._replace(commits=offsets.commits._replace(pending={("t", 0)} if pending else set()))
    sample = sample._replace(offsets=offsets)
    findings = [each for each in judge([sample] * 3, limits) if each.check != "exists"]
    assert [each.severity for each in findings] == [severity], findings


@pytest.mark.parametrize(("epoch", "severity"), [(4, OK), (None, OK), (-2, CRITICAL)])
def test_judge_static_member_that_left_is_not_present(epoch: int | None, severity: Severity) -> None:
    sample = seen()
    group = sample.offsets.group
    first, second = group.members or ()
    group = group._replace(members=(first._replace(member_epoch=epoch), second))
    sample = sample._replace(offsets=sample.offsets._replace(group=group))
    for limits in (Limits(members=2), Limits(min_members=2), Limits(assigned=True)):
        finding = one(limits, sample)
        assert finding.severity is (UNKNOWN if limits.assigned and epoch == -2 else severity)
        assert ("left" in finding.message) == (epoch == -2)
