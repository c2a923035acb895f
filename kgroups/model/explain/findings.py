"""What is found about a group: a sentence, how much it matters, and whom it concerns."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """INFO: how it is. WARNING: it will bite, or is on its way. PROBLEM: something is not consumed, or will not be."""

    INFO = "info"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(NamedTuple):
    """``rule`` is a stable name. ``subjects`` are all members, topics or partitions that ``text`` may only count."""

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
