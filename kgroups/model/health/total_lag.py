"""The total lag of a group."""

from __future__ import annotations

from collections.abc import Iterator

from .amounts import total
from .check import Check, Evidence, Flag
from .findings import Finding
from .values import LIMIT, parse_threshold


def _judge(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.lag:
        yield total(evidence.name, "lag", evidence.rows, limit, evidence.unknown_lag, evidence.ahead(evidence.rows))


CHECK = Check("max-lag", "lag", Flag("Total lag.", LIMIT), "a limit", parse_threshold, judge=_judge)
