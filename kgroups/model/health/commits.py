"""Rules about when a group committed, and whether it gets on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..duration import Milliseconds
from ..groups import GroupType
from ..lag_summary import By, reads_on_at, shares
from ..rows import OffsetRow
from .amounts import committed, largest, number, over, some
from .findings import Finding, Place, Seen
from .severity import Severity, Threshold, worst
from .trend import Look, Verdict, verdict

_OF_VERDICT = {
    Verdict.OK: Severity.OK,
    Verdict.UNKNOWN: Severity.UNKNOWN,
    Verdict.WARN: Severity.WARNING,
}
"""The others are CRITICAL."""


def commit_ages(seen: Seen, rows: Iterable[OffsetRow], limit: Threshold) -> Iterator[Finding]:
    group = seen.offsets.group
    name = group.group_id
    if group.type == GroupType.SHARE:
        yield Finding(name, "commit-age", Severity.UNKNOWN, "a share group commits nothing", limit=limit)
        return
    at = seen.committed_at or {}
    # The times are the brokers', whose clocks may be ahead.
    ages = {place: max(0, seen.now - at[place]) if place in at else None for place in committed(rows)}
    finding = largest(name, "commit-age", ages, limit, "ms")
    unknown = sorted(place for place, age in ages.items() if age is None)
    if unknown and finding.severity is not Severity.CRITICAL:
        finding = _at_least(finding, seen, unknown[0], limit)
    yield finding


def _at_least(finding: Finding, seen: Seen, place: Place, limit: Threshold) -> Finding:
    """The same, when not all times are known: what was not found in the records lies before those that were read."""
    topic, partition = place
    least = None if seen.commits_before is None else max(0, seen.now - seen.commits_before)
    if least is not None and limit.judge(least) is Severity.CRITICAL:
        said = f"{topic}-{partition}: commit age at least {number(least, 'ms')}{over(limit, least, 'ms')}"
        return finding._replace(severity=Severity.CRITICAL, message=said, value=least)
    why = seen.commits_unread or "their records are not in the groups' log"
    return finding._replace(message=f"{finding.message}: {why}")


def trend(seen: Sequence[Seen]) -> Iterator[Finding]:
    """By Burrow's rules, over all looks; of the partitions that have a commit, or of a share group a start."""
    name = seen[-1].offsets.group.group_id
    looks: dict[Place, list[Look]] = {}
    for one in seen:
        for share in shares(one.offsets, By.GROUP):
            # A partition that two members claim is looked at once.
            for place, row in {(row.topic, row.partition): row for row in share.rows}.items():
                topic, partition = place
                if topic is not None and partition is not None:
                    at = reads_on_at(row)
                    end = None if at is None or row.lag is None else at + row.lag
                    looks.setdefault((topic, partition), []).append(Look(at, end))
    looks = {place: some for place, some in looks.items() if any(look.committed is not None for look in some)}
    if not looks:
        yield Finding(name, "trend", Severity.OK, "nothing is committed")
        return
    verdicts = {place: verdict(some, committing=_committing(seen, place)) for place, some in looks.items()}
    severity = worst(_severity(each) for each in verdicts.values())
    ranked = list(Verdict)
    bad = max(verdicts.values(), key=ranked.index, default=Verdict.OK)
    faults = sorted(f"{topic}-{partition}" for (topic, partition), each in verdicts.items() if each is bad)
    seconds = Milliseconds(seen[-1].now - seen[0].now)
    said = f"{bad.value} in {seconds}" if bad is Verdict.OK else f"{bad.value} in {seconds}: {some(faults)}"
    why = seen[-1].commits_unread
    if why and not _read_over(seen) and bad in (Verdict.STALL, Verdict.STOP):
        said += f"; whether it commits is guessed from whether it has members: {why}"
    yield Finding(name, "trend", severity, said)


def _committing(seen: Sequence[Seen], place: Place) -> bool:
    """Whether something was committed in the window: as the records say, else whether there is anybody to commit."""
    first, last = seen[0], seen[-1]
    newest = (last.committed_at or {}).get(place)
    if newest is None:
        return not _read_over(seen) and bool(last.offsets.group.members)
    before = (first.committed_at or {}).get(place)
    # Two times of the brokers' tell it better than one beside our clock.
    return newest > before if before is not None else newest >= first.now


def _read_over(seen: Sequence[Seen]) -> bool:
    """Whether the records of the whole window were read: what is not among them was not committed in it."""
    before = seen[-1].commits_before
    return before is not None and before <= seen[0].now


def _severity(found: Verdict) -> Severity:
    return _OF_VERDICT.get(found, Severity.CRITICAL)
