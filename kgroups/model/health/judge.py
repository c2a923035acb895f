"""All rules of ``check``, and what they find in what was seen of one group."""

from __future__ import annotations

from collections.abc import Sequence

from ..views.lag_summary import By, shares
from . import (
    assigned,
    assignor,
    commit_age,
    group_type,
    members,
    partition_lag,
    state,
    stopped,
    time_lag,
    topic_lag,
    total_lag,
    trend,
)
from .amounts import unread_of
from .check import Check, Evidence, Flag
from .findings import Finding, Seen
from .limits import Limits
from .severity import Severity
from .values import parse_flag

ALLOW_UNCOMMITTED = Check(
    "allow-uncommitted",
    "allow_uncommitted",
    Flag("Partitions without a committed offset do not make a lag unknown."),
    "true or false",
    parse_flag,
)
"""No rule of its own: the rules about lag heed it."""

CHECKS = (
    state.CHECK,
    group_type.CHECK,
    assignor.CHECK,
    members.CHECK,
    members.AT_LEAST,
    stopped.CHECK,
    assigned.CHECK,
    total_lag.CHECK,
    topic_lag.CHECK,
    partition_lag.CHECK,
    time_lag.CHECK,
    commit_age.CHECK,
    trend.CHECK,
    ALLOW_UNCOMMITTED,
)


def judge(seen: Sequence[Seen], limits: Limits) -> list[Finding]:
    """What the rules find in a group: one finding or more for each expectation, those that are met too.

    :param seen: looks at the group in their order of time, at least one. All but the trend goes by the last.
    """
    last = seen[-1]
    rows = [row for share in shares(last.offsets, By.GROUP) for row in share.rows]
    unread = unread_of(last.offsets.group, rows, allow_uncommitted=limits.allow_uncommitted)
    evidence = Evidence(seen, rows, unread, limits)
    findings = [Finding(evidence.name, "exists", Severity.OK, "the group exists")]
    for check in CHECKS:
        if check.judge and check.is_set(limits):
            findings += check.judge(evidence)
    return findings
