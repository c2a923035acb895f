"""All findings of one check, and what they come to."""

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
"""Instead of a group, where a finding is about none."""


class Report(NamedTuple):
    """Findings, sorted by group; and when they were made, in milliseconds since 1970."""

    findings: tuple[Finding, ...]
    at: int

    @property
    def severity(self) -> Severity:
        """Where nothing was looked at, nobody knows that all is well."""
        return worst((finding.severity for finding in self.findings), default=Severity.UNKNOWN)

    @property
    def bad(self) -> tuple[Finding, ...]:
        """Those that are not OK, the worst first."""
        order = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING)
        return tuple(finding for severity in order for finding in self.findings if finding.severity is severity)

    def by_group(self) -> list[tuple[GroupId, list[Finding]]]:
        return [(name, list(some)) for name, some in groupby(self.findings, key=attrgetter("group"))]


def report_of(findings: Iterable[Finding], failures: Iterable[Failure], at: int) -> Report:
    """The rules' findings, and one for each thing that could not be asked."""
    everything = [*findings, *map(_of_failure, failures)]
    return Report(tuple(sorted(everything, key=attrgetter("group"))), at)


def _of_failure(failure: Failure) -> Finding:
    said = ", ".join(filter(None, (failure.error, failure.api)))
    text = f"{failure.message} [{said}]" if said else failure.message
    if failure.scope is not Scope.GROUP:
        scope = f"{failure.scope.value} "
        return Finding(CLUSTER, "answered", Severity.UNKNOWN, f"{scope}{failure.name.removeprefix(scope)}: {text}")
    if failure.error == NOT_FOUND:
        return Finding(failure.name, "exists", Severity.CRITICAL, failure.message)
    return Finding(failure.name, "answered", Severity.UNKNOWN, text)
