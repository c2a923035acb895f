"""Whether brokers would convert a group to the consumer protocol (KIP-848), and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..migration import Judgment, Migration, Verdict, judge_migration
from ..severity import Severity
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .values import parse_flag


def _upgrade(evidence: Evidence) -> Iterator[Finding]:
    yield _finding(evidence, "migration-ready", lambda found: found.upgrade)


def _rollback(evidence: Evidence) -> Iterator[Finding]:
    yield _finding(evidence, "rollback-ready", lambda found: found.rollback)


def _finding(evidence: Evidence, check: str, direction: Callable[[Migration], Judgment]) -> Finding:
    if evidence.last.migration is None:
        return Finding(evidence.name, check, Severity.UNKNOWN, "the settings of its coordinator are unknown")
    judgment = direction(judge_migration(evidence.last.migration))
    # What a change of settings would allow is not allowed now.
    severity = Severity.CRITICAL if judgment.verdict is Verdict.READY_IF else judgment.verdict.severity
    word = judgment.verdict.value.replace("-", " ")
    return Finding(evidence.name, check, severity, f"{word}: {judgment.text}" if judgment.text else word)


UPGRADE = Check(
    "migration-ready",
    "migration_ready",
    Flag("Require that brokers would convert the group to the consumer protocol (KIP-848) now, or have done so."),
    "true or false",
    parse_flag,
    judge=_upgrade,
    inputs=frozenset({Input.MIGRATION}),
    about_offsets=False,
)
ROLLBACK = Check(
    "rollback-ready",
    "rollback_ready",
    Flag("Require that brokers would convert the group back to the classic protocol."),
    "true or false",
    parse_flag,
    judge=_rollback,
    inputs=frozenset({Input.MIGRATION}),
    about_offsets=False,
)
