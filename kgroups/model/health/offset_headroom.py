"""The time until the committed offsets of a group without members expire."""

from __future__ import annotations

from collections.abc import Iterator

from ..groups import GroupState, GroupType
from .amounts import UnknownLag, committed, largest
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .severity import Severity
from .values import parse_least_time

CHECKED = "offset-headroom"


def _judge(evidence: Evidence) -> Iterator[Finding]:
    limit, last = evidence.limits.offset_headroom, evidence.last
    if not limit:
        return
    group = last.offsets.group
    if group.type == GroupType.SHARE:
        yield Finding(evidence.name, CHECKED, Severity.OK, "share groups do not commit offsets", limit=limit)
        return
    if group.state not in GroupState.WITHOUT_MEMBERS:
        yield Finding(evidence.name, CHECKED, Severity.OK, "offsets of members do not expire", limit=limit)
        return
    at = last.expires_at or {}
    times = {place: max(0, at[place] - last.now) if place in at else None for place in committed(evidence.rows)}
    why = last.expiry_unread or "their records are not in __consumer_offsets"
    reasons = {place: why for place, time in times.items() if time is None}
    yield largest(
        evidence.name, CHECKED, times, limit, "ms", UnknownLag({}, len(times), 0, allow_uncommitted=True), reasons
    )


CHECK = Check(
    "min-offset-headroom",
    "offset_headroom",
    Flag("Time until the offsets of groups without members expire, such as 2d,1d.", "[WARN,]CRIT"),
    "a limit",
    parse_least_time,
    judge=_judge,
    inputs=frozenset({Input.OFFSET_EXPIRY}),
)
