"""Whether a group makes progress, by Burrow's rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..counts import some
from ..duration import Milliseconds
from ..places import place_name
from ..time_lag import Position
from ..views.lag_summary import By, reads_on_at, shares
from .amounts import Unread, without_any
from .burrow import NEED_PROOF, Look, Verdict, verdict
from .check import Check, Evidence, Flag, Input
from .findings import Finding, Place, Seen
from .severity import Severity, worst
from .values import parse_flag

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


def _judge(evidence: Evidence) -> Iterator[Finding]:
    return trend(evidence.seen, evidence.unread)


CHECK = Check(
    "trend",
    "trend",
    Flag("Require progress during --window, by Burrow's rules."),
    "true or false",
    parse_flag,
    judge=_judge,
    inputs=frozenset({Input.WINDOW}),
)
