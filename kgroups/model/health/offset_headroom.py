"""The time until committed offsets expire: those of a group without members, and of topics that a group has left.

KIP-211: while a group has members, brokers delete only offsets of topics that no member subscribes to.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..counts import some
from ..groups import GroupState, GroupType
from ..subscriptions import doubtful_topics
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
    rows = (*evidence.rows, *evidence.left) if group.state in GroupState.WITHOUT_MEMBERS else evidence.left
    doubtful = sorted(doubtful_topics(group, last.offsets.commits.topics))
    if doubtful:
        message = f"unknown: the subscriptions of members are not reported ({group.state}): {some(doubtful)}"
        yield Finding(evidence.name, CHECKED, Severity.UNKNOWN, message, limit=limit)
        return
    if not rows and group.state not in GroupState.WITHOUT_MEMBERS:
        message = "offsets of topics that members subscribe to do not expire"
        yield Finding(evidence.name, CHECKED, Severity.OK, message, limit=limit)
        return
    at = last.expires_at or {}
    times = {place: max(0, at[place] - last.now) if place in at else None for place in committed(rows)}
    why = last.expiry_unread or "their records are not in __consumer_offsets"
    reasons = {place: why for place, time in times.items() if time is None}
    yield largest(
        evidence.name, CHECKED, times, limit, "ms", UnknownLag({}, len(times), 0, allow_uncommitted=True), reasons
    )


CHECK = Check(
    "min-offset-headroom",
    "offset_headroom",
    Flag("Time until offsets expire, of groups without members or of topics they left, such as 2d,1d.", "[WARN,]CRIT"),
    "a limit",
    parse_least_time,
    judge=_judge,
    inputs=frozenset({Input.OFFSET_EXPIRY}),
)
