"""All rules of ``check``, and their application to the samples of one group."""

from __future__ import annotations

from collections.abc import Sequence

from ..severity import Severity
from ..views.lag_summary import By, held_back, left_of, left_remark, shares
from . import assigned, commit_age, headroom, lag, migration, share_groups, state, trend
from .amounts import unknown_lag_of
from .check import Check, Evidence, Flag
from .findings import Finding, Seen
from .limits import Limits
from .values import parse_flag

ALLOW_UNCOMMITTED = Check(
    "allow-uncommitted",
    "allow_uncommitted",
    Flag("Ignore partitions without a committed offset: they do not make a lag unknown."),
    "true or false",
    parse_flag,
)
"""Not a rule itself; the rules about lag use it."""

SKIP_MISSING_TOPICS = Check(
    "skip-missing-topics",
    "skip_missing_topics",
    Flag("Skip --max-topic-lag for groups that have no matching topic; they are UNKNOWN otherwise."),
    "true or false",
    parse_flag,
)
"""Not a rule itself; the limit of topics uses it."""

CHECKS = (
    state.STATE,
    state.TYPE,
    state.ASSIGNOR,
    state.MEMBERS,
    state.MIN_MEMBERS,
    state.STOPPED,
    assigned.CHECK,
    lag.TOTAL,
    lag.TOPICS,
    lag.PARTITIONS,
    lag.TIMES,
    headroom.RECORDS,
    headroom.OFFSETS,
    commit_age.CHECK,
    share_groups.REDELIVERIES,
    share_groups.PROGRESS_AGE,
    trend.CHECK,
    migration.UPGRADE,
    migration.ROLLBACK,
    ALLOW_UNCOMMITTED,
    SKIP_MISSING_TOPICS,
)


def judge(seen: Sequence[Seen], limits: Limits) -> list[Finding]:
    """Apply the rules to a group; return one or more findings for each requirement, also if it is met.

    :param seen: samples of the group, oldest first, at least one. All rules except the trend use the last one.
    """
    last = seen[-1]
    (share,) = shares(last.offsets, By.GROUP)
    left = share.left - last.offsets.topics  # a rule about topics that are named judges them
    rows = tuple(row for row in share.rows if row.topic not in left) if left else share.rows
    held = held_back(rows, share.pending, share.logs)
    unknown_lag = unknown_lag_of(last.offsets.group, rows, held, allow_uncommitted=limits.allow_uncommitted)
    evidence = Evidence(seen, rows, unknown_lag, limits, [row for row in share.rows if row.topic in left])
    findings = [Finding(evidence.name, "exists", Severity.OK, "the group exists")]
    if evidence.left:
        findings.append(_subscribed(evidence))
    for check in CHECKS:
        if check.judge and check.is_set(limits):
            found = check.judge(evidence)
            hidden = last.offsets.hidden if check.about_offsets else None
            findings += [_despite(hidden, finding, limits) for finding in found] if hidden else found
    return findings


def _subscribed(evidence: Evidence) -> Finding:
    """Return a finding about topics that no member subscribes to: a consumer may be missing, or they are not needed."""
    rows, logs, allowed = evidence.left, evidence.last.offsets.logs, evidence.limits.allow_uncommitted
    topics = frozenset(row.topic for row in rows if row.topic is not None)
    unread = left_of(rows, topics, logs, allow_uncommitted=allowed)
    severity = Severity.WARNING if unread.unread else Severity.UNKNOWN if unread.unknown else Severity.OK
    hint = "start the consumer that is missing, or if the topics are not needed, use kgroups delete-offsets"
    return Finding(evidence.name, "subscribed", severity, f"{left_remark(rows, topics, unread)}; {hint}")


def _despite(hidden: str, finding: Finding, limits: Limits) -> Finding:
    """Return a finding as it is if committed offsets of the group are hidden: CRITICAL, or unknown.

    Offsets on one topic are hidden all together or not at all, so that a limit on one topic is judged.
    """
    named = finding.topic is not None and all(glob == finding.topic for glob, _ in limits.topic_lag)
    if finding.severity is Severity.CRITICAL or named:
        return finding
    return finding._replace(severity=Severity.UNKNOWN, message=f"{finding.message}; {hidden}", value=None)
