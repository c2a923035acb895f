"""The time since the last commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..groups import GroupType
from ..offsets import place_name
from ..severity import Severity, Threshold
from ..time_lag import age_of, time_fault
from ..views.offset_row import OffsetRow
from .amounts import NO_COMMIT, UnknownLag, committed, largest, number, over
from .check import Check, Evidence, Flag, Input
from .findings import Finding, Place, Seen
from .values import LIMIT, parse_time_threshold


def _judge(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.commit_age:
        yield from commit_ages(evidence.last, evidence.rows, limit, evidence.unknown_lag)


def commit_ages(seen: Seen, rows: Iterable[OffsetRow], limit: Threshold, unknown_lag: UnknownLag) -> Iterator[Finding]:
    group = seen.offsets.group
    name = group.group
    if group.type == GroupType.SHARE:
        yield Finding(name, "commit-age", Severity.UNKNOWN, "share groups do not commit offsets", limit=limit)
        return
    if group.type == GroupType.SPARK:
        yield Finding(name, "commit-age", Severity.UNKNOWN, "unknown: the times of batches are not read", limit=limit)
        return
    at = seen.committed_at or {}
    ages = {place: age_of(at[place], seen.now) if place in at else None for place in committed(rows)}
    wrong = {place: time_fault(at[place], seen.now) or "" for place in ages if place in at and ages[place] is None}
    unknown = sorted(place for place in ages if place not in at)
    why = seen.commits_unread or "their records are not in __consumer_offsets"
    uncommitted = unknown_lag._replace(
        places={place: why for place, why in unknown_lag.places.items() if why == NO_COMMIT}
    )
    finding = largest(name, "commit-age", ages, limit, "ms", uncommitted, {**wrong, **dict.fromkeys(unknown, why)})
    if unknown and finding.severity is not Severity.CRITICAL:
        finding = _at_least(finding, seen, unknown[0], limit)
    yield finding


def _at_least(finding: Finding, seen: Seen, place: Place, limit: Threshold) -> Finding:
    """Return the finding with a lower bound, if unknown ages are known to exceed the critical limit.

    Commits without a record in the part of the log that was read are older than this part.
    """
    topic, partition = place
    least = None if seen.commits_before is None else max(0, seen.now - seen.commits_before)
    if least is not None and limit.judge(least) is Severity.CRITICAL:
        message = f"{place_name(topic, partition)}: commit age at least {number(least, 'ms')}{over(limit, least, 'ms')}"
        return finding._replace(severity=Severity.CRITICAL, message=message, value=least)
    return finding


CHECK = Check(
    "max-commit-age",
    "commit_age",
    Flag("Time since the last commit on each partition.", LIMIT),
    "a limit",
    parse_time_threshold,
    judge=_judge,
    inputs=frozenset({Input.COMMIT_TIMES}),
)
