"""Write a headline with performance data, like monitoring plugins, and then a line for each finding.

https://www.monitoring-plugins.org/doc/guidelines.html
"""

from __future__ import annotations

import re
from typing import TextIO

from kgroups.model.counts import count
from kgroups.model.health.findings import Finding
from kgroups.model.health.report import ANSWERED, CLUSTER, Report
from kgroups.model.severity import Minimum, Severity

from ..cells import escape
from ..color import color_is_wanted, severity_style, styled
from ..wrapping import write_wrapped

PROGRAM = "KGROUPS"
_SHOWN = 3


def write(report: Report, stream: TextIO, cluster_id: str | None) -> None:
    if stream.isatty():
        write_terminal(report, stream, verbose=False)
        return
    stream.write(f"{headline(report)}\n")
    for finding in (*report.bad, *(each for each in report.findings if each.severity is Severity.OK)):
        stream.write(f"{finding.severity.name:8}  {sentence(finding)}\n")


def write_terminal(report: Report, stream: TextIO, *, verbose: bool) -> None:
    """Write problems first, in color, and without performance data; checks that passed are counted, or listed."""
    colored = color_is_wanted()

    def status(severity: Severity) -> str:
        text = f"{severity.name:8}"
        return styled(text, severity_style(severity)) if colored else text

    passed = [finding for finding in report.findings if finding.severity is Severity.OK]
    for finding in (*report.bad, *(passed if verbose else ())):
        write_wrapped(stream, sentence(finding), first=f"{status(finding.severity)}  ", indent=10)
    if not report.findings:
        write_wrapped(stream, summary_line(report), first=f"{status(report.severity)}  ", indent=10)
    elif passed and not verbose:
        stream.write(f"{status(Severity.OK)}  {count(len(passed), 'check')} passed\n")


def summary_line(report: Report) -> str:
    """Return the result in one line, without performance data."""
    bad = report.bad
    groups = len({(finding.cluster, finding.group) for finding in report.findings if finding.group != CLUSTER})
    summary = f"{count(len(report.findings), 'check')} of {count(groups, 'group')}"
    if report.clusters:
        summary += f" in {count(len(report.clusters), 'cluster')}"
    if bad:
        more = f"; and {len(bad) - _SHOWN:,} more" if len(bad) > _SHOWN else ""
        summary = f"{len(bad):,} of {summary}: {'; '.join(map(sentence, bad[:_SHOWN]))}{more}"
    elif not report.findings:
        summary = "no group matches"
    return summary


def headline(report: Report) -> str:
    """Return the line that a pager shows, with performance data after a bar."""
    numbers = " ".join(map(_number, (finding for finding in report.findings if finding.value is not None)))
    return f"{PROGRAM} {report.severity.name} - {summary_line(report)}" + (f" | {numbers}" if numbers else "")


def unreachable_headline(reason: str) -> str:
    """Return the headline if no result is available."""
    return f"{PROGRAM} {Severity.UNKNOWN.name} - {escape(reason).replace('|', '/')}"


def sentence(finding: Finding) -> str:
    """Return the text of a finding without a bar, which would start the performance data."""
    text = ": ".join(filter(None, (finding.cluster, finding.group, _check_name(finding), finding.message)))
    return escape(text).replace("|", "/")


def _check_name(finding: Finding) -> str:
    """Return the check, unless the message names it, and the topic that it is about."""
    words = finding.check.replace("-", " ").removesuffix("s")
    named = finding.check == ANSWERED or re.search(rf"\b{words}s?\b", finding.message)
    if finding.topic is None:
        return "" if named else finding.check
    return f"topic {finding.topic}" if named else f"{finding.check} of {finding.topic}"


def _number(finding: Finding) -> str:
    label = " ".join(filter(None, (finding.cluster, finding.group, finding.check, finding.topic)))
    label = escape(label).replace("'", "''").replace("=", "_").replace("|", "_")
    beyond = ":" if isinstance(finding.limit, Minimum) else ""  # "5:" alerts below 5
    limits = ";".join("" if limit is None else f"{limit:.15g}{beyond}" for limit in finding.limit or (None, None))
    return f"'{label}'={finding.value:.15g}{finding.unit};{limits}"
