"""Verdicts about lag against the truth of generated groups: what is unread, on which partitions, and who reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.health.findings import Seen
from kgroups.model.health.judge import judge
from kgroups.model.health.limits import Limits
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.severity import Severity, Threshold, worst
from kgroups.model.views.lag_summary import By, shares
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.watch.state.totals import Totalling

Pair = tuple[str, int]
TOPICS = ("a", "b", "c")
NOW = 1_700_000_000_000


class Situation(NamedTuple):
    """Logs by partition, commits, and the subscriptions and partitions of members."""

    logs: dict[Pair, tuple[int, int]]
    commits: dict[Pair, int]
    subscriptions: tuple[frozenset[str], ...]
    owned: tuple[tuple[Pair, ...], ...]

    def offsets(self, *, members: bool = True) -> GroupOffsets:
        who = tuple(
            Member(f"m{at}", "c", "/h", assignment_of((t, [p]) for t, p in owned), subscription=_subscription(topics))
            for at, (topics, owned) in enumerate(zip(self.subscriptions, self.owned, strict=True))
        )
        who = who if members else ()
        group = Group("g", "Classic", "Stable" if who else "Empty", "consumer", "range", Node(0, "h", 1), who)
        commits = {
            topic: tuple(Commit(p, at) for (t, p), at in sorted(self.commits.items()) if t == topic)
            for topic in {topic for topic, _ in self.commits}
        }
        logs = {
            topic: {p: LogOffsets(*ends) for (t, p), ends in self.logs.items() if t == topic}
            for topic in {topic for topic, _ in self.logs}
        }
        return GroupOffsets(group, GroupCommits("g", commits, pending=frozenset()), Logs(logs))

    @property
    def read(self) -> set[str]:
        """The topics that members subscribe to or own."""
        return {*(t for topics in self.subscriptions for t in topics), *(t for some in self.owned for t, _ in some)}

    def belonging(self, *, members: bool = True) -> list[Pair]:
        committed = {topic for topic, _ in self.commits}
        topics = self.read if members and self.subscriptions else committed
        return [pair for pair in self.logs if pair[0] in topics]


def _subscription(topics: frozenset[str]) -> Subscription:
    return Subscription(tuple(sorted(topics)))


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    sizes = {topic: draw(st.integers(1, 3)) for topic in TOPICS}
    every = [(topic, at) for topic in TOPICS for at in range(sizes[topic])]
    number = st.integers(0, 30)
    logs = {pair: (start := draw(number), start + draw(number)) for pair in every}
    commits = {pair: draw(st.integers(0, 70)) for pair in every if draw(st.booleans())}
    count = draw(st.integers(0, 3))
    topics = st.frozensets(st.sampled_from(TOPICS), min_size=1)
    subscriptions = tuple(draw(topics) for _ in range(count))
    owned: list[list[Pair]] = [[] for _ in range(count)]
    for pair in every:
        if count and draw(st.booleans()):
            owned[draw(st.integers(0, count - 1))].append(pair)
    return Situation(logs, commits, subscriptions, tuple(map(tuple, owned)))


def unread(situation: Situation, *, members: bool = True) -> tuple[int, bool, bool]:
    """Return the known unread records, whether there may be more, and whether a commit is beyond its log."""
    pairs = situation.belonging(members=members)
    known = sum(
        max(0, situation.logs[pair][1] - situation.commits[pair]) for pair in pairs if pair in situation.commits
    )
    more = any(pair not in situation.commits and situation.logs[pair][0] != situation.logs[pair][1] for pair in pairs)
    ahead = any(situation.commits[pair] > situation.logs[pair][1] for pair in pairs if pair in situation.commits)
    return known, more, ahead


def severity(offsets: GroupOffsets, limits: Limits) -> Severity:
    return worst(finding.severity for finding in judge([Seen(offsets, NOW)], limits))


@given(situations(), st.integers(0, 60))
def test_total_lag_is_what_is_unread_of_the_partitions_of_the_group(situation: Situation, limit: int) -> None:
    offsets = situation.offsets()
    known, more, ahead = unread(situation)
    (share,) = shares(offsets, By.GROUP)
    row: Any = share.row()
    has_commit = any(pair in situation.commits for pair in situation.belonging())
    assert row.known_lag == (known if has_commit else None)
    assert row.total_lag == (known if has_commit and not more else None)
    assert (row.ahead > 0) is ahead
    totals, _ = Totalling().of(offsets)
    assert (totals.total_lag, totals.known_lag) == (row.total_lag, row.known_lag)
    found = severity(offsets, Limits(lag=Threshold(critical=limit)))
    lost = any(
        situation.commits.get(pair, log) < log for pair in situation.belonging() for log in situation.logs[pair][:1]
    )
    if known > limit or ahead or lost:
        assert found is Severity.CRITICAL
    elif more or not situation.belonging():
        assert found is Severity.UNKNOWN
    else:
        assert found is Severity.OK


BADNESS = (Severity.OK, Severity.WARNING, Severity.UNKNOWN, Severity.CRITICAL)


@given(situations(), st.integers(0, 60))
def test_lag_is_not_better_after_the_members_died(situation: Situation, limit: int) -> None:
    committed = {topic for topic, _ in situation.commits}
    if situation.read <= committed:  # without members, only commits show which topics a group reads
        limits = Limits(lag=Threshold(critical=limit))
        alive, dead = (severity(situation.offsets(members=members), limits) for members in (True, False))
        assert BADNESS.index(dead) >= BADNESS.index(alive)


@given(situations())
def test_assigned_is_ok_only_if_every_partition_of_subscribed_topics_has_one_subscriber(situation: Situation) -> None:
    if not situation.subscriptions:
        return
    owners = {pair: [at for at, owned in enumerate(situation.owned) if pair in owned] for pair in situation.belonging()}
    well = all(len(who) == 1 and pair[0] in situation.subscriptions[who[0]] for pair, who in owners.items())
    found = severity(situation.offsets(), Limits(assigned=True))
    assert found is (Severity.OK if well and owners else Severity.CRITICAL)


@given(situations(), st.integers(1, 10_000))
def test_lost_data_is_never_ok(situation: Situation, hours: int) -> None:
    pairs = situation.belonging()
    lost = any(situation.commits.get(pair, 1 << 60) < situation.logs[pair][0] for pair in pairs)
    for limits in (Limits(time_lag=Threshold(critical=hours)), Limits(headroom=Threshold(critical=hours))):
        found = severity(situation.offsets(), limits)
        assert (found is Severity.CRITICAL) is lost or found is Severity.UNKNOWN
        assert not lost or found is Severity.CRITICAL
