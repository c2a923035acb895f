"""Write JUnit XML: UNKNOWN is an error, WARNING and CRITICAL are failures.

There is a suite for each group, or for each of several clusters, and a case for each check.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import TextIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kgroups.model.health.findings import Finding
from kgroups.model.health.report import Report
from kgroups.model.severity import Severity

from ..cells import escape

_CLUSTER = "cluster"


def write(report: Report, stream: TextIO, cluster_id: str | None) -> None:
    root = Element("testsuites", {"name": "kgroups check", **_counts(report.findings)})
    moment = datetime.fromtimestamp(report.at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for each, some in groupby(report.findings, key=attrgetter("cluster" if report.clusters else "group")):
        name, findings = escape(each) or _CLUSTER, list(some)
        suite = SubElement(root, "testsuite", {"name": name, "timestamp": moment, "time": "0", **_counts(findings)})
        for finding in findings:
            _case(suite, finding)
    indent(root)
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(tostring(root, encoding="unicode") + "\n")


def _case(suite: Element, finding: Finding) -> None:
    name = finding.check if finding.topic is None else f"{finding.check} of {escape(finding.topic)}"
    place = ("kgroups", *filter(None, (escape(finding.cluster),)), escape(finding.group) or _CLUSTER)
    case = SubElement(suite, "testcase", classname=".".join(place), name=name, time="0")
    message = escape(finding.message)
    if finding.severity is Severity.OK:
        return
    tag = "error" if finding.severity is Severity.UNKNOWN else "failure"
    SubElement(case, tag, message=message, type=finding.severity.name).text = message


def _counts(findings: list[Finding] | tuple[Finding, ...]) -> dict[str, str]:
    unknown = sum(finding.severity is Severity.UNKNOWN for finding in findings)
    bad = sum(finding.severity in (Severity.WARNING, Severity.CRITICAL) for finding in findings)
    return {"tests": str(len(findings)), "failures": str(bad), "errors": str(unknown)}
