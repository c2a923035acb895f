"""Whether brokers would convert a group to the consumer protocol (KIP-848), and back."""

from __future__ import annotations

from collections.abc import Iterator

from ..migration import Judgment, Verdict, judge_migration
from ..severity import Severity
from .check import Check, Evidence, Flag, Input
from .findings import Finding
from .values import parse_flag

_NOT_OK = {Verdict.UNKNOWN: Severity.UNKNOWN, Verdict.READY_IF: Severity.CRITICAL, Verdict.BLOCKED: Severity.CRITICAL}


def _upgrade(evidence: Evidence) -> Iterator[Finding]:
    yield _finding(evidence, "migration-ready")


def _rollback(evidence: Evidence) -> Iterator[Finding]:
    yield _finding(evidence, "rollback-ready")


def _finding(evidence: Evidence, check: str) -> Finding:
    if evidence.last.migration is None:
        return Finding(evidence.name, check, Severity.UNKNOWN, "the settings of its coordinator are unknown")
    found = judge_migration(evidence.last.migration)
    judgment: Judgment = found.rollback if check == "rollback-ready" else found.upgrade
    severity = _NOT_OK.get(judgment.verdict, Severity.OK)
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
