"""Severities of findings, with the names and numbers of monitoring plugins."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple


class Severity(IntEnum):
    """The severity of a finding; its value is the exit code."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_BADNESS = (Severity.OK, Severity.WARNING, Severity.UNKNOWN, Severity.CRITICAL)
"""From best to worst: CRITICAL takes precedence over UNKNOWN."""


def worst(severities: Iterable[Severity], default: Severity = Severity.OK) -> Severity:
    return max(severities, key=_BADNESS.index, default=default)


class Threshold(NamedTuple):
    """Limits that a number must not exceed; ``None``: no limit."""

    warning: float | None = None
    critical: float | None = None

    def judge(self, value: float) -> Severity:
        if self.critical is not None and value > self.critical:
            return Severity.CRITICAL
        if self.warning is not None and value > self.warning:
            return Severity.WARNING
        return Severity.OK

    def limit_broken(self, value: float) -> float | None:
        """Return the limit that a value exceeds, the critical one first."""
        severity = self.judge(value)
        return {Severity.CRITICAL: self.critical, Severity.WARNING: self.warning}.get(severity)
