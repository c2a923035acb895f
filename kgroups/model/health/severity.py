"""How bad a finding is, in the words and numbers of monitoring plugins."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple


class Severity(IntEnum):
    """The value is the exit code."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


_BADNESS = (Severity.OK, Severity.WARNING, Severity.UNKNOWN, Severity.CRITICAL)
"""What is known to be wrong outweighs what is not known."""


def worst(severities: Iterable[Severity], default: Severity = Severity.OK) -> Severity:
    return max(severities, key=_BADNESS.index, default=default)


class Threshold(NamedTuple):
    """Limits that a number must not exceed; ``None`` where there is none."""

    warning: float | None = None
    critical: float | None = None

    def judge(self, value: float) -> Severity:
        if self.critical is not None and value > self.critical:
            return Severity.CRITICAL
        if self.warning is not None and value > self.warning:
            return Severity.WARNING
        return Severity.OK

    def limit_broken(self, value: float) -> float | None:
        """The limit that this value exceeds, the harder one first."""
        severity = self.judge(value)
        return {Severity.CRITICAL: self.critical, Severity.WARNING: self.warning}.get(severity)
