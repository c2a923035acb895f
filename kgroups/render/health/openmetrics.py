"""Write OpenMetrics text: the status of each check as a number (0 OK to 3 UNKNOWN), and the measured values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from kgroups.model.health.findings import Finding
from kgroups.model.health.report import Report
from kgroups.model.visible import escape

NAMES = _STATUS, _VALUE = "kgroups_check_status", "kgroups_check_value"
LABELS = ("group", "check", "topic")
"""The labels of both; of several clusters, ``cluster`` precedes them."""


def write(report: Report, stream: TextIO, cluster_id: str | None) -> None:
    stream.write(f"# TYPE {_STATUS} gauge\n# HELP {_STATUS} 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.\n")
    show = escape if stream.isatty() else str  # the format does not escape control characters
    for finding in report.findings:
        stream.write(f"{_STATUS}{_labels(finding, show)} {int(finding.severity)}\n")
    stream.write(f"# TYPE {_VALUE} gauge\n# HELP {_VALUE} What was measured: records, members, or seconds.\n")
    for finding in report.findings:
        if finding.value is not None:
            value = finding.value / 1000 if finding.unit == "ms" else finding.value
            stream.write(f"{_VALUE}{_labels(finding, show)} {value:.15g}\n")
    stream.write("# EOF\n")


def _labels(finding: Finding, show: Callable[[str], str]) -> str:
    cluster = {"cluster": finding.cluster} if finding.cluster else {}
    values = (finding.group, finding.check, finding.topic or "")
    pairs = {**cluster, **dict(zip(LABELS, values, strict=True))}
    return "{" + ",".join(f'{name}="{_escaped(show(text))}"' for name, text in pairs.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
