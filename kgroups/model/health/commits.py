"""Rules about when a group committed, and whether it gets on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..duration import Milliseconds
from ..groups import GroupType
from ..places import place_name
from ..time_lag import Position
from ..views.lag_summary import By, reads_on_at, shares
from ..views.offset_row import OffsetRow
from .amounts import NO_COMMIT, Unread, committed, largest, number, over, some, without_any
from .findings import Finding, Place, Seen
from .severity import Severity, Threshold, worst
from .trend import NEED_PROOF, Look, Verdict, verdict

_OF_VERDICT = {
    Verdict.OK: Severity.OK,
    Verdict.UNKNOWN: Severity.UNKNOWN,
    Verdict.WARN: Severity.WARNING,
}
"""The others are CRITICAL."""


class Doubt(NamedTuple):
    """A verdict that may be right, and why nobody knows."""

    verdict: Verdict
    reason: str


def commit_ages(seen: Seen, rows: Iterable[OffsetRow], limit: Threshold, unread: Unread) -> Iterator[Finding]:
    group = seen.offsets.group
    name = group.group_id
    if group.type == GroupType.SHARE:
        yield Finding(name, "commit-age", Severity.UNKNOWN, "a share group commits nothing", limit=limit)
        return
    at = seen.committed_at or {}
    # The times are the brokers', whose clocks may be ahead.
    ages = {place: max(0, seen.now - at[place]) if place in at else None for place in committed(rows)}
    unknown = sorted(place for place, age in ages.items() if age is None)
    why = seen.commits_unread or "their records are not in the groups' log"
    never = unread._replace(places={place: why for place, why in unread.places.items() if why == NO_COMMIT})
    finding = largest(name, "commit-age", ages, limit, "ms", never, dict.fromkeys(unknown, why))
    if unknown and finding.severity is not Severity.CRITICAL:
        finding = _at_least(finding, seen, unknown[0], limit)
    yield finding


def _at_least(finding: Finding, seen: Seen, place: Place, limit: Threshold) -> Finding:
    """The same, when not all times are known: what was not found in the records lies before those that were read."""
    topic, partition = place
    least = None if seen.commits_before is None else max(0, seen.now - seen.commits_before)
    if least is not None and limit.judge(least) is Severity.CRITICAL:
        said = f"{place_name(topic, partition)}: commit age at least {number(least, 'ms')}{over(limit, least, 'ms')}"
        return finding._replace(severity=Severity.CRITICAL, message=said, value=least)
    return finding


def trend(seen: Sequence[Seen], unread: Unread) -> Iterator[Finding]:
    """By Burrow's rules, over all looks; of the partitions that have a commit, or of a share group a start.

    STOP, STALL and WARN need an unread record: where :attr:`Seen.proofs` has none, the partition is OK, and where
    nobody knows, it is unknown, and told with a question mark.
    """
    name = seen[-1].offsets.group.group_id
    looks = _looks(seen)
    never = [place for place in unread.places if place not in looks]
    gap = unread.text(len(never), [unread.places[place] for place in never])
    if not looks:
        severity, said = without_any("trend", gap, unread)
        yield Finding(name, "trend", severity, said)
        return
    judged = {place: _judged(seen, place, some_looks) for place, some_looks in looks.items()}
    severities = [_severity(each) for each, _ in judged.values()]
    said = _told(seen, judged) + (f", {gap}" if gap else "")
    yield Finding(name, "trend", worst((*severities, Severity.UNKNOWN if gap else Severity.OK)), said)


def _looks(seen: Sequence[Seen]) -> dict[Place, list[Look]]:
    """The samples of each partition that ever had a commit."""
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
    return {place: some for place, some in looks.items() if any(look.committed is not None for look in some)}


def suspects(seen: Sequence[Seen]) -> dict[Place, Position]:
    """Partitions whose verdict needs an unread record as proof, and the offsets from which to look for it."""
    looks = _looks(seen)
    found = {place for place, each in looks.items() if verdict(each, committing=_committing(seen, place)) in NEED_PROOF}
    positions = (at for share in shares(seen[-1].offsets, By.GROUP) for at in share.positions())
    return {place: at for at in positions if (place := (at.topic, at.partition)) in found}


_Judged = tuple[Verdict, Doubt | None]


def _judged(seen: Sequence[Seen], place: Place, looks: Sequence[Look]) -> _Judged:
    """The verdict on a partition, and the one that may be right where it is unknown whether a record is unread."""
    found = verdict(looks, committing=_committing(seen, place))
    proof = seen[-1].proofs.get(place) if found in NEED_PROOF else None
    if proof is None or proof.unread:
        return found, None
    return (Verdict.OK, None) if proof.unread is False else (Verdict.UNKNOWN, Doubt(found, proof.reason))


def _told(seen: Sequence[Seen], judged: Mapping[Place, _Judged]) -> str:
    bad = max((found for found, _ in judged.values()), key=list(Verdict).index)
    seconds = Milliseconds(seen[-1].now - seen[0].now)
    doubts = {place: doubt for place, (_, doubt) in judged.items() if doubt}
    if bad is Verdict.OK:
        return f"{bad.value} in {seconds}"
    if bad is Verdict.UNKNOWN and doubts:
        return _doubted(doubts, f" in {seconds}: ")
    faults = sorted(place_name(*place) for place, (found, _) in judged.items() if found is bad)
    said = f"{bad.value} in {seconds}: {some(faults)}"
    why = seen[-1].commits_unread
    if why and not _read_over(seen) and bad in (Verdict.STALL, Verdict.STOP):
        said += f"; whether it commits is guessed from whether it has members: {why}"
    return said


def _doubted(doubts: Mapping[Place, Doubt], when: str) -> str:
    """Name the worst verdict that may be right, its partitions, and why nobody knows."""
    bad = max((doubt.verdict for doubt in doubts.values()), key=list(Verdict).index)
    places = sorted(place for place, doubt in doubts.items() if doubt.verdict is bad)
    names = [place_name(*place) for place in places]
    return f"{bad.value}?{when}{some(names)}; {doubts[places[0]].reason}"


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
