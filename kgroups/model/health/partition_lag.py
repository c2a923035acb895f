"""The largest lag of a partition."""

from __future__ import annotations

from collections.abc import Iterator

from .amounts import committed, largest
from .check import Check, Evidence, Flag
from .findings import Finding
from .severity import Severity
from .values import LIMIT, parse_threshold


def _judge(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.partition_lag:
        rows = committed(evidence.rows)
        lags = {place: None if row.lag is None else max(0, row.lag) for place, row in rows.items()}
        finding = largest(evidence.name, "partition-lag", lags, limit, "", evidence.unknown_lag)
        if ahead := evidence.ahead(rows.values()):
            finding = finding._replace(severity=Severity.CRITICAL, message=f"{finding.message}, {ahead}")
        yield finding


CHECK = Check(
    "max-partition-lag",
    "partition_lag",
    Flag("Lag of each partition.", LIMIT),
    "a limit",
    parse_threshold,
    judge=_judge,
)
