"""Whether a group makes progress, by Burrow's rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..counts import some
from ..duration import Milliseconds
from ..groups import GroupType
from ..offsets import place_name
from ..operations.commit_history import STUCK_AFTER, History
from ..operations.committing import OF_A_CLIENT, OVERDUE
from ..rates import Reading, reading_of
from ..severity import Severity, worst
from ..subscriptions import left_topics
from ..time_lag import Position
from ..views.lag_summary import By, reads_on_at, shares
from .amounts import UnknownLag, without_any
from .burrow import NEED_PROOF, OffsetSample, Verdict, verdict
from .check import Check, Evidence, Flag, Input
from .findings import Finding, Place, Proof, Seen
from .values import parse_flag

DELETED = "unread records were deleted meanwhile, and consumers then continue according to auto.offset.reset"
OTHERS = (
    "offsets were set while no member was there all the time: by resets, or by a client that is not a member; take at "
    f"least {OF_A_CLIENT} samples"
)


BATCHES = (
    "the positions of a Spark query move when a batch is complete, and a checkpoint does not show whether the query is "
    "running; use a longer --window"
)

NEW = "the topic was created, or the first offset committed, since the first sample"
PEAK = 2


class Doubt(NamedTuple):
    """A verdict that may be right, and why that is unknown."""

    verdict: Verdict
    reason: str


def trend(seen: Sequence[Seen], unknown_lag: UnknownLag) -> Iterator[Finding]:
    """Yield the verdict over all samples, of the partitions with a commit, or with a start offset of a share group.

    STOP, STALL, and WARN require proof of an unread record: without one in :attr:`Seen.proofs`, the partition is OK. If
    it is unknown whether a record is unread, the verdict is unknown, and shown with a question mark.
    """
    name = seen[-1].offsets.group.group
    windows = _windows(seen)
    never = [
        place  # without a commit, or an open transaction hides what is unread
        for place in unknown_lag.places
        if place not in windows or not windows[place].samples or windows[place].samples[-1].end is not None
    ]
    gap = unknown_lag.text(len(never), [unknown_lag.places[place] for place in never])
    if not windows:
        severity, message = without_any("trend", gap, unknown_lag)
        yield Finding(name, "trend", severity, message)
        return
    judged = {place: _judged(seen, place, window) for place, window in windows.items()}
    severities = [each.status.severity for each, _ in judged.values()]
    message = _message(seen, judged) + (f", {gap}" if gap else "")
    yield Finding(name, "trend", worst((*severities, Severity.UNKNOWN if gap else Severity.OK)), message)


class _Window(NamedTuple):
    """The samples of one partition since its topic was created, or its first commit; ``first``: the first of these.

    ``doubt``: why its offset may have been set by something else than a consumer.
    """

    first: int
    samples: Sequence[OffsetSample]
    grew: bool
    doubt: str | None

    @property
    def was_caught_up(self) -> bool:
        return any(each.committed is not None and each.committed == each.end for each in self.samples)


def _windows(seen: Sequence[Seen]) -> dict[Place, _Window]:
    """Return the windows of the partitions that had a commit in at least one sample."""
    return {place: _window(seen, place, samples) for place, samples in _samples(seen).items()}


def _window(seen: Sequence[Seen], place: Place, samples: Sequence[OffsetSample]) -> _Window:
    readings = [reading_of(each.now, *each.offsets[:3], place) for each in seen]
    pairs = [(at, before, now) for at, (before, now) in enumerate(pairwise(readings), 1) if before and now]
    starts = [
        at + 1
        for at, (reading, each) in enumerate(zip(readings, seen, strict=True))
        if reading is None or _is_ahead(reading, each.offsets.logs.high.get(place[0], {}).get(place[1]))
    ]
    first = max((*starts, *(at for at, before, now in pairs if not now.is_same_log(before))), default=0)
    if first and readings[-1] is not None:  # share groups have no readings
        samples = samples[max(0, len(samples) - len(seen) + first) :]
    else:
        first = 0
    steps = [(before, now) for at, before, now in pairs if at > first]
    moved = [now.committed > before.committed for before, now in steps]
    doubt = None
    if not (all(moved) and len(moved) >= OF_A_CLIENT - 1):
        broken = [
            step for has_moved, step in zip(moved, steps, strict=True) if has_moved and not step[1].continues(step[0])
        ]
        if broken:
            doubt = DELETED if all(now.has_lost(before) for before, now in broken) else OTHERS
    return _Window(first, samples, _grew(seen[-1], place, steps), doubt)


def _is_ahead(reading: Reading, high: int | None) -> bool:
    """Return whether the offset belongs to an earlier topic, or was set by hand.

    :param high: the high watermark, if the reading ends at the last stable offset.
    """
    (end,), (committed,) = reading.ends, reading.committed
    return end is not None and committed > max(end, high or 0)


def _grew(last: Seen, place: Place, steps: Sequence[tuple[Reading, Reading]]) -> bool:
    """Return whether the lag grew, even if producers wrote at twice their average rate since the last commit."""
    if not steps:
        return False
    (began, _), (_, ended) = steps[0], steps[-1]
    if began.ends[0] is None or ended.ends[0] is None:
        return False
    at = (last.committed_at or {}).get(place)
    age = 0 if at is None else max(0, last.now - at)
    grown = ended.ends[0] - ended.committed[0] - (began.ends[0] - began.committed[0])
    return grown > PEAK * (ended.ends[0] - began.ends[0]) * age / (ended.at - began.at)


def _samples(seen: Sequence[Seen]) -> dict[Place, list[OffsetSample]]:
    """Return the samples of each partition that had a commit in at least one of them."""
    samples: dict[Place, list[OffsetSample]] = {}
    last = seen[-1].offsets
    left = left_topics(last.group, {topic for each in seen for topic in each.offsets.commits.topics}) - last.topics
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
    found = {place for place, window in _windows(seen).items() if _burrow(seen, place, window) in NEED_PROOF}
    positions = (at for share in shares(seen[-1].offsets, By.GROUP) for at in share.positions())
    return {place: at for at in positions if (place := (at.topic, at.partition)) in found}


_Judged = tuple[Verdict, Doubt | None]


def _burrow(seen: Sequence[Seen], place: Place, window: _Window) -> Verdict:
    """Return Burrow's verdict; a lag that grew only since the last commit is OK."""
    found = verdict(window.samples, committing=_committing(seen[min(window.first, len(seen) - 1) :], place))
    return Verdict.OK if found is Verdict.WARN and not window.grew else found


def _judged(seen: Sequence[Seen], place: Place, window: _Window) -> _Judged:
    """Return the verdict on a partition, and the possible verdict if the proof is unknown."""
    found = _burrow(seen, place, window)
    if window.doubt and (found is Verdict.WARN or (found is Verdict.OK and not window.was_caught_up)):
        return Verdict.UNKNOWN, Doubt(found, window.doubt)
    if window.first and found in NEED_PROOF:
        return Verdict.UNKNOWN, Doubt(found, NEW)
    proof = seen[-1].proofs.get(place) if found in NEED_PROOF else None
    if proof is not None and not proof.unread:
        return (Verdict.OK, None) if proof.unread is False else (Verdict.UNKNOWN, Doubt(found, proof.reason))
    if found is Verdict.STOP and seen[-1].offsets.group.type == GroupType.SPARK:
        return Verdict.UNKNOWN, Doubt(found, BATCHES)
    reason = _unsure(seen, place, window, found, proof or Proof(True)) if found in NEED_PROOF else None
    return (Verdict.UNKNOWN, Doubt(found, reason)) if reason else (found, None)


def _unsure(seen: Sequence[Seen], place: Place, window: _Window, found: Verdict, proof: Proof) -> str | None:
    """Return why the times of commits do not show a verdict about a partition that a client may read.

    A group stops when its next commit is overdue: the rule of ``explain --partition``.
    """
    last, committed = seen[-1], window.samples[-1].committed
    history = last.histories.get(place, History()) if not last.histories_unread else None
    is_owned = place in _owned(last)
    if last.offsets.group.type in (GroupType.SHARE, GroupType.SPARK) or committed is None:
        return None
    if last.commits_unread and not _whole_window_read(seen) and place not in (last.committed_at or {}):
        return f"the times of commits are unknown: {last.commits_unread}"
    if found is not Verdict.STOP:
        return None
    if history is None:
        return f"the times of commits are unknown: {last.histories_unread}"
    outsider = history.outsider(place, last.now)
    if not (is_owned or history.of_present_members()):
        return None
    since = max(history.last or history.since or 0, proof.first.timestamp or 0)
    waited = max(_unread_for(seen, place, proof), last.now - since if since else 0)
    if is_owned:
        pause, least = history.longest_pause(), 0 if history.has_rhythm() else STUCK_AFTER
    else:  # another client may commit now, less often
        pause, least = outsider.gap if outsider else 0, STUCK_AFTER
    if waited >= max(OVERDUE * pause, least):
        return None
    if outsider or not least:
        return f"commits are up to {Milliseconds(pause)} apart, and the next one is not overdue; use a longer --window"
    if is_owned:
        return "its members have not committed twice so far; use a longer --window"
    return "a reset, or a client that is not a member, has set an offset lately; use a longer --window"


def _owned(last: Seen) -> set[Place]:
    """Return the partitions that a member has."""
    return {
        (row.topic, row.partition)
        for share in shares(last.offsets, By.GROUP)
        for row in share.rows
        if row.topic is not None and row.partition is not None and row.consumer_id
    }


def _unread_for(seen: Sequence[Seen], place: Place, proof: Proof) -> int:
    """Return the milliseconds since the first sample in which the first unread record was in the log."""
    topic, partition = place
    for each in seen:
        log = each.offsets.logs.offsets.get(topic, {}).get(partition)
        if log and log.end is not None and log.end > (proof.first.offset or 0):
            return seen[-1].now - each.now
    return 0


def _message(seen: Sequence[Seen], judged: Mapping[Place, _Judged]) -> str:
    bad = max((found for found, _ in judged.values()), key=list(Verdict).index)
    seconds = Milliseconds(seen[-1].now - seen[0].now)
    doubts = {place: doubt for place, (_, doubt) in judged.items() if doubt}
    if bad is Verdict.OK:
        return f"{bad.value} in {seconds}"
    if bad is Verdict.UNKNOWN and doubts:
        return _doubt_message(doubts, f" in {seconds}: ")
    faults = sorted(place_name(*place) for place, (found, _) in judged.items() if found is bad)
    word = "" if bad is Verdict.UNKNOWN else f" ({bad.status})"
    return f"{bad.value} in {seconds}: {some(faults)}{word}"


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
