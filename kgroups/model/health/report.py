"""All findings of one run of ``check``, and their overall severity."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from ..groups import GroupId
from ..outcome import NOT_FOUND, Failure, Scope
from .findings import Finding
from .severity import Severity, worst

CLUSTER = ""
"""The ``group`` of a finding that is not about a group."""


class Report(NamedTuple):
    """Findings, sorted by group, and their time, in milliseconds since 1970."""

    findings: tuple[Finding, ...]
    at: int

    @property
    def severity(self) -> Severity:
        """The worst severity; UNKNOWN without findings, because nothing was checked."""
        return worst((finding.severity for finding in self.findings), default=Severity.UNKNOWN)

    @property
    def bad(self) -> tuple[Finding, ...]:
        """The findings that are not OK, worst first."""
        order = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING)
        return tuple(finding for severity in order for finding in self.findings if finding.severity is severity)

    def by_group(self) -> list[tuple[GroupId, list[Finding]]]:
        return [(name, list(some)) for name, some in groupby(self.findings, key=attrgetter("group"))]


def report_of(findings: Iterable[Finding], failures: Iterable[Failure], at: int) -> Report:
    """Return a report of the findings, and of one finding for each failure."""
    everything = [*findings, *map(_of_failure, failures)]
    return Report(tuple(sorted(everything, key=attrgetter("group"))), at)


def _of_failure(failure: Failure) -> Finding:
    error_and_api = ", ".join(filter(None, (failure.error, failure.api)))
    text = f"{failure.message} [{error_and_api}]" if error_and_api else failure.message
    if failure.scope is not Scope.GROUP:
        scope = f"{failure.scope.value} "
        return Finding(CLUSTER, "answered", Severity.UNKNOWN, f"{scope}{failure.name.removeprefix(scope)}: {text}")
    if failure.error == NOT_FOUND:
        return Finding(failure.name, "exists", Severity.CRITICAL, failure.message)
    return Finding(failure.name, "answered", Severity.UNKNOWN, text)
