"""The status of an explained group, its worst partition, and what to do: one line for a tired person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgroups.model.offsets import place_name
from kgroups.model.shell import group_words
from kgroups.model.status import GroupStatus, Known, Status, Trend, judge_status, lag_text
from kgroups.model.verdicts.facts import PartitionFacts
from kgroups.model.verdicts.judge import judge
from kgroups.model.verdicts.verdict import Adds, Key, Verdict
from kgroups.model.verdicts.verdict import Severity as VerdictSeverity

from .facts import GroupFacts
from .findings import Finding, Severity

_TRENDS = {
    **dict.fromkeys(
        (
            Key.UNASSIGNED,
            Key.CRASH_LOOP,
            Key.SAME_OFFSET_COMMITTED,
            Key.LARGE_RECORD,
            Key.NOT_COMMITTING,
            Key.OPEN_TRANSACTION,
        ),
        Trend.STUCK,
    ),
    **dict.fromkeys((Key.THROTTLED, Key.FALLING_BEHIND), Trend.FALLING_BEHIND),
    Key.CATCHING_UP: Trend.CATCHING_UP,
    Key.NO_UNREAD_RECORDS: Trend.NOTHING_UNREAD,
}
_OTHER_TOPIC = (Key.RECREATED_TOPIC, Key.LEADER_EPOCH_AHEAD)
_NEXT = {
    Status.DELETED_TOPIC: "kgroups describe {group}",
    Status.MISSING_TOPIC: "kgroups describe {group} --members",
    Status.NO_MEMBER: "start its consumers",
    Status.NOT_SUBSCRIBED: "kgroups lag {group} --by topic",
    Status.NOT_ASSIGNED: "kgroups describe {group} --members",
    Status.REBALANCING: f"kgroups explain {{group}} {Adds.DEEP}",
    Status.UNKNOWN: "kgroups lag {group} --by partition --wide",
    Status.LAGGING: "kgroups explain {group} --lagging",
}
"""What to do if no verdict says it."""


class JudgedPartition(NamedTuple):
    """A partition with its verdict."""

    facts: PartitionFacts
    verdict: Verdict

    @property
    def place(self) -> str:
        return place_name(self.facts.topic, self.facts.partition)


class Summary(NamedTuple):
    """The status of a group. ``partitions``: those that lag, or whose lag is unknown, worst first.

    ``next``: what to do, mostly a command; ``None``: nothing. ``adds``: the option that it adds to ``explain``.
    """

    status: GroupStatus
    total_lag: int | None
    known_lag: int | None
    partitions: tuple[JudgedPartition, ...] = ()
    next: str | None = None
    adds: Adds | None = None

    @property
    def worst(self) -> JudgedPartition | None:
        """The partition to name first; ``None`` if none needs attention."""
        first = next(iter(self.partitions), None)
        return None if first is None or first.verdict.severity is VerdictSeverity.INFO else first


def summarize(facts: GroupFacts, findings: Iterable[Finding]) -> Summary:
    """Return the status of a group; a problem below is a problem above."""
    known, partitions = _unknown(facts), tuple[JudgedPartition, ...]()
    if facts.lag is not None:
        known = facts.lag.known
        judged = (JudgedPartition(each, judge(each)) for each in facts.lag.partitions)
        partitions = tuple(sorted(judged, key=_badness))
    if facts.outsiders and known.members == 0:
        known = known._replace(members=None)  # a client reads that is not a member
    recreated = {(each.facts.topic, each.facts.partition) for each in partitions if each.verdict.key in _OTHER_TOPIC}
    if recreated:
        known = known._replace(damage=known.damage._replace(recreated=tuple(sorted(recreated))))
    status = judge_status(known, _trend([each.verdict for each in partitions]))
    problems = [each for each in findings if each.severity is Severity.PROBLEM]
    if problems and status.severity is not Status.AT_RISK.severity:
        status = GroupStatus(Status.AT_RISK, Status.AT_RISK.severity, _short(problems[0]))
    if (lag := lag_text(known)) not in status.reason and status.status is not Status.OK:
        status = status._replace(reason=f"{status.reason}; {lag}")
    summary = Summary(status, known.total_lag, known.known_lag, partitions)
    nothing_to_show = facts.lag is not None and not partitions and known.total_lag is None and not known.unknown
    step, adds = _next(facts.group.group, summary, nothing_to_show=nothing_to_show, has_members=bool(known.members))
    return summary._replace(next=step, adds=adds)


def _short(finding: Finding) -> str:
    """Return the start of a text that says what is wrong; some texts begin with the name of their subject."""
    first, _, rest = finding.text.partition(": ")
    return f"{first}: {rest.partition(';')[0]}" if first in finding.subjects else first


def _unknown(facts: GroupFacts) -> Known:
    return Known(facts.group.state, None if facts.group.members is None else len(facts.members), None, None)


def _badness(each: JudgedPartition) -> tuple[tuple[int, int], int, str, int]:
    return each.verdict.rank, -(each.facts.lag or 0), each.facts.topic, each.facts.partition


def _trend(verdicts: Sequence[Verdict]) -> Trend:
    """Return what the verdicts prove about the group: what is bad of one partition, and what is well of all."""
    trends = {_trend_of(verdict) for verdict in verdicts}
    for bad in (Trend.STUCK, Trend.FALLING_BEHIND):
        if bad in trends:
            return bad
    if trends == {Trend.NOTHING_UNREAD}:
        return Trend.NOTHING_UNREAD
    return Trend.CATCHING_UP if trends and trends <= {Trend.CATCHING_UP, Trend.NOTHING_UNREAD} else Trend.UNKNOWN


def _trend_of(verdict: Verdict) -> Trend:
    if verdict.key is Key.OPEN_TRANSACTION and verdict.severity is not VerdictSeverity.PROBLEM:
        return Trend.UNKNOWN
    return _TRENDS.get(verdict.key, Trend.UNKNOWN)


def _next(group: str, summary: Summary, *, nothing_to_show: bool, has_members: bool) -> tuple[str | None, Adds | None]:
    """Return what to do, and the option that it adds to ``explain``.

    :param nothing_to_show: whether the lag by partition would be empty.
    """
    words = group_words(group)
    found = summary.worst.verdict if summary.worst else None
    if found and found.next and found.next != f"kgroups explain {words}":
        return found.next, found.adds
    status = summary.status.status
    if status is Status.UNKNOWN and nothing_to_show:
        return f"kgroups describe {words} --members" if has_members else None, None
    advice = _NEXT.get(status)
    return advice and advice.format(group=words), Adds.DEEP if status is Status.REBALANCING else None
