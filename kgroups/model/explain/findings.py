"""Findings about a group: a sentence, its severity, and its subjects."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """The severity of a finding.

    INFO: a fact. WARNING: likely to cause a problem, or still in progress. PROBLEM: records are not consumed, or will
    not be.
    """

    INFO = "info"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(NamedTuple):
    """A finding. ``rule`` is a stable name.

    ``subjects``: all members, topics, or partitions that it is about; ``text`` may contain only their number.
    """

    severity: Severity
    rule: str
    text: str
    subjects: tuple[str, ...] = ()


def info(rule: str, text: str, subjects: Iterable[str] = ()) -> Finding:
    return Finding(Severity.INFO, rule, text, tuple(subjects))


def warning(rule: str, text: str, subjects: Iterable[str] = ()) -> Finding:
    return Finding(Severity.WARNING, rule, text, tuple(subjects))


def problem(rule: str, text: str, subjects: Iterable[str] = ()) -> Finding:
    return Finding(Severity.PROBLEM, rule, text, tuple(subjects))
