"""Share groups: records that are released repeatedly, start offsets that do not move, and the limits on deliveries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgroups.model.duration import Milliseconds
from kgroups.model.effective_setting import Effective, unknown_text
from kgroups.model.groups import GroupType
from kgroups.model.moments import moment_text
from kgroups.model.offsets import place_name
from kgroups.model.share.partition import ACQUIRED_UNKNOWN, ShareFacts, SharePartition, Tally
from kgroups.model.share.state import ShareState
from kgroups.model.time_lag import ago
from kgroups.model.views.share_state_rows import between_text

from ..counts import count, some
from .facts import GroupFacts
from .findings import Finding, Severity, info, problem, warning

LONGEST_LOCK = 60_000
"""Milliseconds; the default of ``group.share.max.record.lock.duration.ms``, for a lock duration that is unknown."""


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.group.type != GroupType.SHARE or facts.share is None:
        return
    yield from _settings(facts.share)
    yield from _unknown(facts.share)
    known = [
        _Known(partition, partition.state, partition.tally)
        for partition in facts.share.partitions
        if partition.state and partition.tally
    ]
    for rule in (_released, _blocked, _archived, _no_progress):
        yield from _merged([finding for each in known for finding in rule(facts, facts.share, each)])


class _Known(NamedTuple):
    """A partition whose state is known."""

    partition: SharePartition
    state: ShareState
    tally: Tally

    @property
    def name(self) -> str:
        return place_name(self.partition.topic, self.partition.partition)


def _merged(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the most severe of the findings of one rule about single partitions, with the names of the others."""
    if not findings:
        return
    worst = min(findings, key=lambda finding: _ORDER.index(finding.severity))
    names = [name for finding in findings for name in finding.subjects]
    others = [name for name in names if name not in worst.subjects]
    more = f"; similar: {count(len(others), 'more partition')} ({some(others)})" if others else ""
    yield worst._replace(text=worst.text + more, subjects=(*worst.subjects, *others))


_ORDER = (Severity.PROBLEM, Severity.WARNING, Severity.INFO)


def _settings(share: ShareFacts) -> Iterator[Finding]:
    limit, lock, topic = share.settings
    attempts = f"at most {limit.value} times" if limit.value else "a number of times that is unknown"
    duration = f"for {Milliseconds(lock.number)}" if lock.number is not None else "for an unknown time"
    yield info(
        "share-limits",
        f"a record is delivered {attempts} ({limit.name}), and locked {duration} for each delivery ({lock.name})"
        + unknown_text(limit, lock),
    )
    if share.partitions:
        yield info("acquired", ACQUIRED_UNKNOWN)
    yield from _dead_letters(topic, share.dead_letters)


def _dead_letters(topic: Effective, found: int | str | None) -> Iterator[Finding]:
    if topic.unknown:
        yield info("dead-letter-topic", f"its dead-letter topic is unknown: {topic.name}: {topic.unknown}")
    elif topic.value:
        # Transaction markers and compacted records have offsets, too.
        known = f"at most {count(found, 'record')}" if isinstance(found, int) else f"records unknown: {found}"
        yield info(
            "dead-letter-topic",
            f"its dead-letter topic is {topic.value!r} ({known}): brokers write there the records that members reject, "
            "and those that they deliver as often as allowed",
            [topic.value],
        )
    else:
        yield info("dead-letter-topic", f"it has no dead-letter topic ({topic.name} is not set)")


def _unknown(share: ShareFacts) -> Iterator[Finding]:
    """Yield one finding for each reason why states are unknown."""
    places: dict[str, list[str]] = {}
    for partition in share.partitions:
        if partition.unknown:
            places.setdefault(partition.unknown, []).append(_name(partition))
    for reason, names in places.items():
        text = f"the delivery state of {count(len(names), 'partition')} is unknown ({some(names)}): {reason}"
        yield warning("share-state-unknown", text, names)


def _released(facts: GroupFacts, share: ShareFacts, known: _Known) -> Iterator[Finding]:
    """Yield a finding if records were released more than once; a problem if the next delivery is the last."""
    (_, state, tally), limit = known, share.settings.delivery_limit
    if tally.most_deliveries < 2:
        return
    repeated = sum(records for deliveries, records in tally.deliveries.items() if deliveries > 1)
    worst = max((each for each in state.batches if not each.finished), key=lambda each: each.deliveries)
    offsets = f"offset {worst.first:,}" if worst.size == 1 else f"offsets {worst.first:,} to {worst.last:,}"
    of_limit = f" of at most {limit.value}" if limit.number is not None else ""
    text = (
        f"{known.name}: {count(repeated, 'record')} delivered repeatedly and not finished; "
        f"{offsets}: {worst.deliveries}{of_limit} deliveries"
    )
    if limit.number is None:
        yield warning("redelivered", f"{text}; {limit.name} is unknown", [known.name])
    elif last := tally.last_attempts(limit.number):
        yield problem("redelivered", f"{text}; the next delivery is the last for {count(last, 'record')}", [known.name])
    else:
        yield warning("redelivered", text, [known.name])


def _blocked(facts: GroupFacts, share: ShareFacts, known: _Known) -> Iterator[Finding]:
    """Yield a finding if the start offset stands still, although later records are finished."""
    partition, state, tally = known
    still = share.now - state.start_since
    if not tally.finished or not partition.has_unfinished or tally.oldest is None or still <= _lock(share):
        return
    released = next((batch for batch in state.batches if batch.first <= tally.oldest <= batch.last), None)
    if released is not None:
        why = f"it was delivered {count(released.deliveries, 'time')}, and released or not acknowledged in time"
    elif facts.members:
        why = (
            "it has no delivery state: a member has acquired it and renews its lock, or it waits for its next delivery"
        )
    else:
        why = "it has no delivery state, and there are no members that could read it"
    yield warning(
        "start-offset-stands",
        f"{known.name}: the start offset is {state.start_offset:,} for at least {Milliseconds(still)}, and "
        f"{count(tally.finished, 'later record')} {'is' if tally.finished == 1 else 'are'} finished; "
        f"{_oldest(share, known)}: {why}; no API reports whether and by which member it is acquired",
        [known.name],
    )


def _archived(facts: GroupFacts, share: ShareFacts, known: _Known) -> Iterator[Finding]:
    archived, topic = known.tally.archived, share.settings.dead_letter_topic
    if archived:
        verb = "is" if archived == 1 else "are"
        yield warning(
            "archived",
            f"{known.name}: {count(archived, 'record')} after the start offset {verb} archived, that is rejected, or "
            "delivered as often as allowed: not delivered again"
            + (f"; see the dead-letter topic {topic.value!r}" if topic.value else ""),
            [known.name],
        )


def _no_progress(facts: GroupFacts, share: ShareFacts, known: _Known) -> Iterator[Finding]:
    """Yield a finding if no record was finished for longer than a lock lasts."""
    progress = known.state.progress
    age = share.now - progress.latest
    if not known.partition.has_unfinished or age <= _lock(share):
        return
    least = "" if progress.is_exact else "at least "
    text = (
        f"{known.name}: the last progress was {between_text(progress)}, {least}{Milliseconds(age)} ago; "
        f"{_oldest(share, known)}"
    )
    yield (warning if facts.members else info)("no-progress", text, [known.name])


def _oldest(share: ShareFacts, known: _Known) -> str:
    at, record = known.tally.oldest, known.partition.oldest
    if record is None or record.failed:
        age = ", of unknown age"
    elif record.timestamp is None:
        age = ", without a timestamp"
    else:
        age = f", from {moment_text(record.timestamp)} ({ago(record.timestamp, share.now)})"
    return f"the oldest unfinished record is at offset {at:,}{age}"


def _lock(share: ShareFacts) -> int:
    return share.settings.lock_duration.number or LONGEST_LOCK


def _name(partition: SharePartition) -> str:
    return place_name(partition.topic, partition.partition)
