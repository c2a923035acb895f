"""Share groups: how often records were delivered again, and the time since one was finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..groups import GroupType
from ..severity import Severity, Threshold
from ..share.partition import ShareFacts, SharePartition, Tally
from ..share.state import ShareState
from ..time_lag import age_of, time_fault
from ..views.share_state_rows import between_text
from .amounts import NO_LOG, largest
from .check import Check, Evidence, Flag, Input
from .findings import Finding, Place
from .values import LIMIT, parse_threshold, parse_time_threshold

Measure = Callable[[ShareFacts, SharePartition, ShareState, Tally], int | str]
"""Return the value of a partition whose state is known, or why it is unknown."""


def _largest(evidence: Evidence, check: str, limit: Threshold, unit: str, measure: Measure) -> Finding:
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


def _redeliveries(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.redeliveries:
        yield _largest(evidence, "redeliveries", limit, "", lambda *given: max(0, given[-1].most_deliveries - 1))


REDELIVERIES = Check(
    "max-redeliveries",
    "redeliveries",
    Flag("Share groups: times that an unfinished record was delivered again.", LIMIT),
    "a limit",
    parse_threshold,
    judge=_redeliveries,
    inputs=frozenset({Input.SHARE_STATES}),
)


def _progress_age(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.progress_age:

        def age(share: ShareFacts, partition: SharePartition, state: ShareState, tally: Tally) -> int | str:
            return _age(limit, share, partition, state)

        yield _largest(evidence, "progress-age", limit, "ms", age)


def _age(limit: Threshold, share: ShareFacts, partition: SharePartition, state: ShareState) -> int | str:
    """Return the age, or why it is unknown. Of a range, the end that has the same verdict as the other suffices."""
    if not partition.has_unfinished:
        return 0
    if partition.log.end is None:
        return NO_LOG
    least, most = (age_of(at, share.now) for at in (state.progress.latest, state.progress.earliest))
    if least is None or most is None:
        faults = (time_fault(at, share.now) for at in (state.progress.latest, state.progress.earliest))
        return f"the last progress: {next(filter(None, faults), '')}"
    if limit.judge(least) is limit.judge(most):
        return least
    return f"the last progress was {between_text(state.progress)}"


PROGRESS_AGE = Check(
    "max-progress-age",
    "progress_age",
    Flag("Share groups: time since a record was finished, on partitions with unfinished records.", LIMIT),
    "a limit",
    parse_time_threshold,
    judge=_progress_age,
    inputs=frozenset({Input.SHARE_STATES}),
)
