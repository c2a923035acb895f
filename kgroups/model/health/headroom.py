"""The time until the first unread record is deleted."""

from __future__ import annotations

from collections.abc import Iterator

from ..headroom import NOTHING_UNREAD, smallest
from ..views.lag_summary import headroom_of
from .amounts import committed, largest, unless_lost
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .severity import Severity
from .values import parse_least_time


def _judge(evidence: Evidence) -> Iterator[Finding]:
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


CHECK = Check(
    "min-headroom",
    "headroom",
    Flag("Time until retention deletes the first unread record, such as 6h,1h.", "[WARN,]CRIT"),
    "a limit",
    parse_least_time,
    judge=_judge,
    inputs=frozenset({Input.RETENTION}),
)
