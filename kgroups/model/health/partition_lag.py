"""The largest lag of a partition."""

from __future__ import annotations

from collections.abc import Iterator

from .amounts import committed, largest
from .check import Check, Evidence, Flag
from .findings import Finding
from .values import LIMIT, parse_threshold


def _judge(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.partition_lag:
        lags = {place: row.lag for place, row in committed(evidence.rows).items()}
        yield largest(evidence.name, "partition-lag", lags, limit, "", evidence.unknown_lag)


CHECK = Check(
    "max-partition-lag",
    "partition_lag",
    Flag("Lag of each partition.", LIMIT),
    "a limit",
    parse_threshold,
    judge=_judge,
)
