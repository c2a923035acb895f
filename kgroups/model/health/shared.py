"""The largest value of the partitions of a share group, checked against a limit."""

from __future__ import annotations

from collections.abc import Callable

from ..groups import GroupType
from ..share.partition import ShareFacts, SharePartition, Tally
from ..share.state import ShareState
from .amounts import largest
from .check import Evidence
from .findings import Finding, Place
from .severity import Severity, Threshold

Measure = Callable[[ShareFacts, SharePartition, ShareState, Tally], int | str]
"""Return the value of a partition whose state is known, or why it is unknown."""


def judge_share_group(evidence: Evidence, check: str, limit: Threshold, unit: str, measure: Measure) -> Finding:
    """Judge the largest value of the group's partitions; UNKNOWN if it is not a share group."""
    group, share = evidence.last.offsets.group, evidence.last.share
    word = check.replace("-", " ")
    if group.type != GroupType.SHARE or share is None:
        return Finding(evidence.name, check, Severity.UNKNOWN, f"only share groups have {word}", limit=limit)
    if not share.partitions:
        return Finding(evidence.name, check, Severity.OK, "no partition has been read yet", limit=limit)
    values: dict[Place, int | None] = {}
    reasons: dict[Place, str] = {}
    for partition in share.partitions:
        place, tally = (partition.topic, partition.partition), partition.tally
        if partition.state is None or tally is None:
            value: int | str = partition.unknown or 0
        else:
            value = measure(share, partition, partition.state, tally)
        if isinstance(value, str):
            reasons[place] = value
        values[place] = None if isinstance(value, str) else value
    # Partitions without a start offset have not been read: nothing of them was delivered.
    unknown = evidence.unknown_lag._replace(places={}, undecoded=0)
    return largest(evidence.name, check, values, limit, unit, unknown, reasons)
