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

    @property
    def beyond(self) -> str:
        """Where a number is that breaks a limit."""
        return "above"

    def judge(self, value: float) -> Severity:
        if self.critical is not None and value > self.critical:
            return Severity.CRITICAL
        if self.warning is not None and value > self.warning:
            return Severity.WARNING
        return Severity.OK

    def limit_broken(self, value: float) -> float | None:
        """Return the limit that a value breaks, the critical one first."""
        severity = self.judge(value)
        return {Severity.CRITICAL: self.critical, Severity.WARNING: self.warning}.get(severity)

    @property
    def in_order(self) -> bool:
        """Whether WARNING comes before CRITICAL."""
        return self.warning is None or self.critical is None or self.warning <= self.critical


class Minimum(Threshold):
    """Limits that a number must not fall below."""

    __slots__ = ()

    @property
    def beyond(self) -> str:
        return "below"

    def judge(self, value: float) -> Severity:
        return self._opposite().judge(-value)

    @property
    def in_order(self) -> bool:
        return self._opposite().in_order

    def _opposite(self) -> Threshold:
        return Threshold(*(None if limit is None else -limit for limit in self))
