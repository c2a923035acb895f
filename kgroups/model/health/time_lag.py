"""The age of the first unread record."""

from __future__ import annotations

from collections.abc import Iterator

from ..views.lag_summary import time_of
from .amounts import committed, largest, unless_lost
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .values import LIMIT, parse_time_threshold


def _judge(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.time_lag:
        rows = committed(evidence.rows)
        times = {place: time_of(row, evidence.last.ages) for place, row in rows.items()}
        ages = {place: time.age for place, time in times.items()}
        reasons = {place: time.remark for place, time in times.items() if time.age is None and time.remark}
        finding = largest(evidence.name, "time-lag", ages, limit, "ms", evidence.unknown_lag, reasons)
        yield unless_lost(finding, rows.values())


CHECK = Check(
    "max-time-lag",
    "time_lag",
    Flag("Age of the first unread record, such as 30s,5m.", LIMIT),
    "a limit",
    parse_time_threshold,
    judge=_judge,
    inputs=frozenset({Input.UNREAD_TIMES}),
)
