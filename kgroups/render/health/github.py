"""Write annotations and the job summary of GitHub Actions.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator

from kgroups.model.health.report import Report
from kgroups.model.severity import Severity

from ..cells import escape
from ..markup import ESCAPES
from .text import sentence, summary_line

_LEVELS = {Severity.WARNING: "warning", Severity.CRITICAL: "error", Severity.UNKNOWN: "error"}
_MAX_ROWS = 200
"""GitHub rejects summaries of more than 1 MiB."""


def annotation_lines(report: Report) -> Iterator[str]:
    """Yield one line for each finding that is not OK."""
    for finding in report.bad:
        title = _property(escape(" ".join(filter(None, (finding.severity.name, finding.cluster, finding.group)))))
        yield f"::{_LEVELS[finding.severity]} title={title}::{_data(sentence(finding))}\n"


def summary(report: Report) -> str:
    """Return the summary as Markdown, worst first."""
    show = ESCAPES["github"]
    lines = [f"### kgroups check: {report.severity.name}", "", show(summary_line(report)), ""]
    if report.bad:
        head = ("status", *(("cluster",) if report.clusters else ()), "group", "check", "result")
        lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for finding in report.bad[:_MAX_ROWS]:
            cluster = (finding.cluster,) if report.clusters else ()
            cells = (finding.severity.name, *cluster, finding.group, finding.check, finding.message)
            lines.append("| " + " | ".join(show(escape(cell)) for cell in cells) + " |")
        if len(report.bad) > _MAX_ROWS:
            lines.append(f"\nand {len(report.bad) - _MAX_ROWS:,} more")
    return "\n".join(lines) + "\n\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
