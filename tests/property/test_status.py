"""The status of generated groups whose truth is known: what is proved is named, and nothing else is said to be well."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, LogProblem, Logs
from kgroups.model.rates import Reading, outlook, unbroken
from kgroups.model.severity import Severity
from kgroups.model.status import Known, Status, judge_status, rank_of
from kgroups.model.views.lag_summary import By, shares
from kgroups.model.views.offset_row import GroupOffsets

DOUBTS = ("uncommitted", "unresponsive")
TRUTHS = ("read", "unread", "lost", "missing", "recreated", "ahead", "leaderless", "empty", *DOUBTS)
WORST = {
    "lost": Status.DATA_LOST,
    "missing": Status.DELETED_TOPIC,
    "recreated": Status.RECREATED_TOPIC,
    "ahead": Status.BEYOND_LOG_END,
    "leaderless": Status.NO_LEADER,
}


class Situation(NamedTuple):
    """A group, and what is true about each of its partitions: one of ``TRUTHS``, and whether a member has it."""

    offsets: GroupOffsets
    truths: tuple[tuple[str, bool], ...]
    state: str


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    truths = draw(st.lists(st.tuples(st.sampled_from(TRUTHS), st.booleans()), min_size=1, max_size=5))
    state = draw(st.sampled_from(["Stable", "Stable", "Empty", "CompletingRebalance"]))
    commits, logs, epochs, problems = [], {}, {}, {}
    for at, (truth, _) in enumerate(truths):
        start = draw(st.integers(1, 50))
        end = start if truth == "empty" else start + draw(st.integers(1, 50))
        committed = {
            "read": end,
            "lost": start - 1,
            "ahead": end + 1,
            "uncommitted": None,
            "empty": None,
        }.get(truth, draw(st.integers(start, end - 1)) if end > start else start)
        if committed is not None:
            commits.append(Commit(at, committed, 5 if truth == "recreated" else 1))
        if truth in ("missing", "leaderless", "unresponsive"):
            problems["t", at] = LogProblem(truth)
        else:
            logs[at], epochs[at] = LogOffsets(start, end), 2
    held = [at for at, (_, owned) in enumerate(truths) if owned]
    member = Member("m", "c", "/h", assignment_of([("t", held)]), subscription=Subscription(topics=("t",)))
    group = Group("g", "Classic", state, "consumer", "range", Node(0, "h", 1), () if state == "Empty" else (member,))
    found = Logs({"t": logs}, dict.fromkeys(problems, "unreadable"), {"t": epochs}, problems=MappingProxyType(problems))
    return Situation(GroupOffsets(group, GroupCommits("g", {"t": tuple(commits)}), found), tuple(truths), state)


@given(situations())
def test_one_look_says_what_it_proves(situation: Situation) -> None:
    (share,) = shares(situation.offsets, By.GROUP)
    row: Any = share.row()
    found = judge_status(share.known(share.tally()))
    assert row.status == found.status

    truths = {truth for truth, _ in situation.truths}
    damage = [WORST[truth] for truth in truths if truth in WORST]
    unowned = {truth for truth, owned in situation.truths if not owned} - {"read", "empty", "ahead"}
    if damage:
        assert found.status is min(damage, key=rank_of)
    elif unowned and situation.state == "Stable":
        assert found.status is Status.NOT_ASSIGNED
    elif "unread" in truths and situation.state == "Empty":
        assert found.status is Status.NO_MEMBER
    elif situation.state == "CompletingRebalance":
        assert found.status is Status.REBALANCING
    elif truths.intersection(DOUBTS) or truths == {"empty"}:
        assert found.status is Status.UNKNOWN
    else:
        assert found.status is (Status.LAGGING if "unread" in truths else Status.OK)
    if found.severity is Severity.OK:
        assert truths <= {"read", "empty"}
    if found.severity is Severity.CRITICAL:
        assert damage or unowned


class Speeds(NamedTuple):
    """Records per second, over ``samples`` refreshes that are 1 s apart; the group commits at each."""

    written: int
    read: int
    backlog: int
    samples: int


speeds = st.builds(Speeds, st.integers(0, 50), st.integers(0, 50), st.integers(0, 5000), st.integers(1, 11))


@given(speeds)
def test_two_moments_say_where_the_lag_goes(true: Speeds) -> None:
    end, committed, readings = true.backlog, 0, []
    for at in range(true.samples):
        readings.append(Reading(at * 1000, (("t", (0,)),), (committed,), (end,), (0,), (0,), (1,), frozenset({"m"})))
        end += true.written
        committed = min(end, committed + true.read)
    (lag,) = (
        now - done for now, done in zip(readings[-1].ends, readings[-1].committed, strict=True) if now is not None
    )
    trend = outlook(unbroken(readings), [lag]).trend
    found = judge_status(Known("Stable", 1, lag, lag), trend).status
    if lag == 0:
        assert found is Status.OK
    elif true.samples < 2 or not true.read:
        assert found is Status.LAGGING  # as one sample shows
    if found is Status.FALLING_BEHIND:
        assert true.written > true.read > 0
    if found is Status.CATCHING_UP:
        assert true.written < true.read
    if found is Status.OK and lag:
        assert lag <= 10 * true.read
    if true.written > 2 * true.read > 0 and true.samples > 4 and lag > 10 * true.read:
        assert found is Status.FALLING_BEHIND
