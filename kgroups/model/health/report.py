"""All findings of one run of ``check``, and their overall severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from ..outcome import NOT_FOUND, Failure, Scope
from ..permissions import Acl
from ..severity import Severity, worst
from .findings import Finding

CLUSTER = ""
"""The ``group`` of a finding that is not about a group."""
ANSWERED = "answered"
"""The check of a finding about what is not available."""


class Report(NamedTuple):
    """Findings, sorted by cluster and group, and their time, in milliseconds since 1970."""

    findings: tuple[Finding, ...]
    at: int
    clusters: Mapping[str, str | None] = MappingProxyType({})
    """The IDs of the clusters by their names, if several are checked; ``None``: unknown."""

    @property
    def severity(self) -> Severity:
        """The worst severity; UNKNOWN without findings, because nothing was checked."""
        return worst((finding.severity for finding in self.findings), default=Severity.UNKNOWN)

    @property
    def bad(self) -> tuple[Finding, ...]:
        """The findings that are not OK, worst first."""
        order = (Severity.CRITICAL, Severity.UNKNOWN, Severity.WARNING)
        return tuple(finding for severity in order for finding in self.findings if finding.severity is severity)


def report_of(
    findings: Iterable[Finding], failures: Iterable[Failure], at: int, hidden_by: Iterable[Acl] = ()
) -> Report:
    """Return a report of the findings, and of one finding for each failure, and for groups that may be hidden."""
    hidden = (
        Finding(CLUSTER, ANSWERED, Severity.UNKNOWN, f"groups may be hidden: needs {acl}")
        for acl in dict.fromkeys(hidden_by)
    )
    everything = [*findings, *map(_of_failure, failures), *hidden]
    return Report(tuple(sorted(everything, key=attrgetter("group"))), at)


def merge_reports(reports: Mapping[str, Report], clusters: Mapping[str, str | None], at: int) -> Report:
    """Return the reports of several clusters, by name, as one. A cluster without findings is UNKNOWN."""
    findings = [
        finding._replace(cluster=name)
        for name, report in reports.items()
        for finding in report.findings or (Finding(CLUSTER, ANSWERED, Severity.UNKNOWN, "no group matches"),)
    ]
    return Report(tuple(findings), at, clusters)


def _of_failure(failure: Failure) -> Finding:
    error_and_api = ", ".join(filter(None, (failure.error, failure.api)))
    text = f"{failure.message} [{error_and_api}]" if error_and_api else failure.message
    if failure.scope is Scope.CLUSTER:
        return Finding(CLUSTER, ANSWERED, Severity.UNKNOWN, text)
    if failure.scope is not Scope.GROUP:
        scope = f"{failure.scope.value} "
        return Finding(CLUSTER, ANSWERED, Severity.UNKNOWN, f"{scope}{failure.name.removeprefix(scope)}: {text}")
    if failure.error == NOT_FOUND:
        return Finding(failure.name, "exists", Severity.CRITICAL, failure.message)
    return Finding(failure.name, ANSWERED, Severity.UNKNOWN, text)
