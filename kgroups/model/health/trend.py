"""Whether a group makes progress, by Burrow's rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..counts import some
from ..duration import Milliseconds
from ..places import place_name
from ..subscriptions import left_topics
from ..time_lag import Position
from ..views.lag_summary import By, reads_on_at, shares
from .amounts import UnknownLag, without_any
from .burrow import NEED_PROOF, OffsetSample, Verdict, verdict
from .check import Check, Evidence, Flag, Input
from .findings import Finding, Place, Seen
from .severity import Severity, worst
from .values import parse_flag

_SEVERITIES = {
    Verdict.OK: Severity.OK,
    Verdict.UNKNOWN: Severity.UNKNOWN,
    Verdict.WARN: Severity.WARNING,
}
"""All others are CRITICAL."""


class Doubt(NamedTuple):
    """A verdict that may be right, and why that is unknown."""

    verdict: Verdict
    reason: str


def trend(seen: Sequence[Seen], unknown_lag: UnknownLag) -> Iterator[Finding]:
    """Yield the verdict over all samples, of the partitions with a commit, or with a start offset of a share group.

    STOP, STALL, and WARN require proof of an unread record: without one in :attr:`Seen.proofs`, the partition is OK. If
    it is unknown whether a record is unread, the verdict is unknown, and shown with a question mark.
    """
    name = seen[-1].offsets.group.group_id
    samples = _samples(seen)
    never = [place for place in unknown_lag.places if place not in samples]
    gap = unknown_lag.text(len(never), [unknown_lag.places[place] for place in never])
    if not samples:
        severity, message = without_any("trend", gap, unknown_lag)
        yield Finding(name, "trend", severity, message)
        return
    judged = {place: _judged(seen, place, samples_of_partition) for place, samples_of_partition in samples.items()}
    severities = [_severity(each) for each, _ in judged.values()]
    message = _message(seen, judged) + (f", {gap}" if gap else "")
    yield Finding(name, "trend", worst((*severities, Severity.UNKNOWN if gap else Severity.OK)), message)


def _samples(seen: Sequence[Seen]) -> dict[Place, list[OffsetSample]]:
    """Return the samples of each partition that had a commit in at least one of them."""
    samples: dict[Place, list[OffsetSample]] = {}
    left = left_topics(seen[-1].offsets.group, seen[-1].offsets.commits.topics)
    for group_sample in seen:
        for share in shares(group_sample.offsets, By.GROUP):
            # A partition that several members claim has several rows, but one sample.
            for place, row in {(row.topic, row.partition): row for row in share.rows}.items():
                topic, partition = place
                if topic is not None and partition is not None and topic not in left:
                    at = reads_on_at(row)
                    end = None if at is None or row.lag is None else at + row.lag
                    samples.setdefault((topic, partition), []).append(OffsetSample(at, end))
    return {place: some for place, some in samples.items() if any(sample.committed is not None for sample in some)}


def suspects(seen: Sequence[Seen]) -> dict[Place, Position]:
    """Return partitions whose verdict requires proof of an unread record, and the offsets to search from."""
    samples = _samples(seen)
    found = {
        place for place, each in samples.items() if verdict(each, committing=_committing(seen, place)) in NEED_PROOF
    }
    positions = (at for share in shares(seen[-1].offsets, By.GROUP) for at in share.positions())
    return {place: at for at in positions if (place := (at.topic, at.partition)) in found}


_Judged = tuple[Verdict, Doubt | None]


def _judged(seen: Sequence[Seen], place: Place, samples: Sequence[OffsetSample]) -> _Judged:
    """Return the verdict on a partition, and the one that may be right if the proof is unknown."""
    found = verdict(samples, committing=_committing(seen, place))
    proof = seen[-1].proofs.get(place) if found in NEED_PROOF else None
    if proof is None or proof.unread:
        return found, None
    return (Verdict.OK, None) if proof.unread is False else (Verdict.UNKNOWN, Doubt(found, proof.reason))


def _message(seen: Sequence[Seen], judged: Mapping[Place, _Judged]) -> str:
    bad = max((found for found, _ in judged.values()), key=list(Verdict).index)
    seconds = Milliseconds(seen[-1].now - seen[0].now)
    doubts = {place: doubt for place, (_, doubt) in judged.items() if doubt}
    if bad is Verdict.OK:
        return f"{bad.value} in {seconds}"
    if bad is Verdict.UNKNOWN and doubts:
        return _doubt_message(doubts, f" in {seconds}: ")
    faults = sorted(place_name(*place) for place, (found, _) in judged.items() if found is bad)
    message = f"{bad.value} in {seconds}: {some(faults)}"
    why = seen[-1].commits_unread
    if why and not _whole_window_read(seen) and bad in (Verdict.STALL, Verdict.STOP):
        message += f"; commits are unknown, and are assumed if the group has members: {why}"
    return message


def _doubt_message(doubts: Mapping[Place, Doubt], when: str) -> str:
    """Return the worst verdict that may be right, its partitions, and why that is unknown."""
    bad = max((doubt.verdict for doubt in doubts.values()), key=list(Verdict).index)
    places = sorted(place for place, doubt in doubts.items() if doubt.verdict is bad)
    names = [place_name(*place) for place in places]
    return f"{bad.value}?{when}{some(names)}; {doubts[places[0]].reason}"


def _committing(seen: Sequence[Seen], place: Place) -> bool:
    """Return whether there was a commit in the window, by commit records, otherwise by whether there are members."""
    first, last = seen[0], seen[-1]
    newest = (last.committed_at or {}).get(place)
    if newest is None:
        return not _whole_window_read(seen) and bool(last.offsets.group.members)
    before = (first.committed_at or {}).get(place)
    # Comparing two broker times is more accurate than comparing one with the local clock.
    return newest > before if before is not None else newest >= first.now


def _whole_window_read(seen: Sequence[Seen]) -> bool:
    """Return whether the records of the whole window were read, so that there are no other commits in it."""
    before = seen[-1].commits_before
    return before is not None and before <= seen[0].now


def _severity(found: Verdict) -> Severity:
    return _SEVERITIES.get(found, Severity.CRITICAL)


def _judge(evidence: Evidence) -> Iterator[Finding]:
    return trend(evidence.seen, evidence.unknown_lag)


CHECK = Check(
    "trend",
    "trend",
    Flag("Require progress during --window, by Burrow's rules."),
    "true or false",
    parse_flag,
    judge=_judge,
    inputs=frozenset({Input.WINDOW}),
)
