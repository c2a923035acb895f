"""The time until the first unread record is deleted, and until committed offsets expire."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..counts import some
from ..groups import GroupState, GroupType
from ..headroom import NOTHING_UNREAD, smallest
from ..severity import Severity
from ..subscriptions import doubtful_topics, unsubscribed_topics
from ..views.lag_summary import headroom_of
from ..views.offset_row import OffsetRow
from .amounts import UnknownLag, committed, largest, unless_lost
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .values import parse_least_time


def _records(evidence: Evidence) -> Iterator[Finding]:
    limit, ages = evidence.limits.headroom, evidence.last.ages
    if not limit:
        return
    rows = committed(evidence.rows)
    rooms = {place: headroom_of(row, ages) for place, row in rows.items()}
    limited = {place: room for place, room in rooms.items() if room.least is not None or room.by is None}
    if rooms and not (limited or evidence.unknown_lag.places or evidence.unknown_lag.undecoded):
        why = smallest(rooms.values(), whole=True)[0].by or NOTHING_UNREAD
        yield unless_lost(Finding(evidence.name, "headroom", Severity.OK, why, limit=limit), rows.values())
        return
    reasons = {place: room.remark for place, room in limited.items() if room.least is None and room.remark is not None}
    amounts = {place: room.least for place, room in limited.items()}
    finding = largest(evidence.name, "headroom", amounts, limit, "ms", evidence.unknown_lag, reasons)
    yield unless_lost(finding, rows.values())


RECORDS = Check(
    "min-headroom",
    "headroom",
    Flag("Time until retention deletes the first unread record, such as 6h,1h.", "[WARN,]CRIT"),
    "a limit",
    parse_least_time,
    judge=_records,
    inputs=frozenset({Input.RETENTION, Input.EPOCH_ENDS}),
)


_EXPIRY = "offset-headroom"


def _offsets(evidence: Evidence) -> Iterator[Finding]:
    limit, last = evidence.limits.offset_headroom, evidence.last
    if not limit:
        return
    group = last.offsets.group
    if group.type == GroupType.SHARE:
        yield Finding(evidence.name, _EXPIRY, Severity.OK, "share groups do not commit offsets", limit=limit)
        return
    if group.type == GroupType.SPARK:
        message = "positions in the checkpoint of a Spark query do not expire"
        yield Finding(evidence.name, _EXPIRY, Severity.OK, message, limit=limit)
        return
    rows: Sequence[OffsetRow] = (*evidence.rows, *evidence.left)
    if group.state not in GroupState.WITHOUT_MEMBERS:
        expiring = unsubscribed_topics(group, last.offsets.commits.topics)
        rows = [row for row in rows if row.topic in expiring]
    doubtful = sorted(doubtful_topics(group, last.offsets.commits.topics))
    if doubtful:
        message = f"unknown: the subscriptions of members are not reported ({group.state}): {some(doubtful)}"
        yield Finding(evidence.name, _EXPIRY, Severity.UNKNOWN, message, limit=limit)
        return
    if not rows and group.state not in GroupState.WITHOUT_MEMBERS:
        message = "offsets of topics that members subscribe to do not expire"
        yield Finding(evidence.name, _EXPIRY, Severity.OK, message, limit=limit)
        return
    at = last.expires_at or {}
    times = {place: max(0, at[place] - last.now) if place in at else None for place in committed(rows)}
    why = last.expiry_unread or "their records are not in __consumer_offsets"
    reasons = {place: why for place, time in times.items() if time is None}
    yield largest(
        evidence.name,
        _EXPIRY,
        times,
        limit,
        "ms",
        UnknownLag({}, len(times), 0, allow_uncommitted=True),
        reasons,
    )


OFFSETS = Check(
    "min-offset-headroom",
    "offset_headroom",
    Flag("Time until offsets expire, of groups without members or of topics they left, such as 2d,1d.", "[WARN,]CRIT"),
    "a limit",
    parse_least_time,
    judge=_offsets,
    inputs=frozenset({Input.OFFSET_EXPIRY}),
)
