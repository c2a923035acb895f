"""The time since a share group finished a record of each partition that has unfinished records."""

from __future__ import annotations

from collections.abc import Iterator

from ..share.partition import ShareFacts, SharePartition, Tally
from ..share.state import ShareState
from ..time_lag import age_of, time_fault
from ..views.share_state_rows import between_text
from .amounts import NO_LOG
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .severity import Threshold
from .shared import judge_share_group
from .values import LIMIT, parse_time_threshold


def _judge(evidence: Evidence) -> Iterator[Finding]:
    if limit := evidence.limits.progress_age:

        def age(share: ShareFacts, partition: SharePartition, state: ShareState, tally: Tally) -> int | str:
            return _age(limit, share, partition, state)

        yield judge_share_group(evidence, "progress-age", limit, "ms", age)


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


CHECK = Check(
    "max-progress-age",
    "progress_age",
    Flag("Share groups: time since a record was finished, on partitions with unfinished records.", LIMIT),
    "a limit",
    parse_time_threshold,
    judge=_judge,
    inputs=frozenset({Input.SHARE_STATES}),
)
