"""Write JSON: ``{"schema": "kgroups/check/v1", "cluster_id", "status", "exit_code", "at", "items"}``.

Of several clusters, items have the key ``cluster``, and ``clusters`` has their IDs.
"""

from __future__ import annotations

import json
from typing import TextIO

from kgroups.model.health.findings import Finding
from kgroups.model.health.report import Report

from ..jsonout import VERSION


def write(report: Report, stream: TextIO, cluster_id: str | None) -> None:
    several = {"clusters": dict(report.clusters)} if report.clusters else {}
    document = {
        "schema": f"kgroups/check/{VERSION}",
        "cluster_id": cluster_id,
        **several,
        "status": report.severity.name,
        "exit_code": int(report.severity),
        "at": report.at,
        "items": [_item(finding) for finding in report.findings],
    }
    stream.write(json.dumps(document, indent=1) + "\n")


def _item(finding: Finding) -> dict[str, object]:
    warning, critical = finding.limit or (None, None)
    return {
        **({"cluster": finding.cluster} if finding.cluster else {}),
        "group": finding.group or None,
        "check": finding.check,
        "topic": finding.topic,
        "status": finding.severity.name,
        "message": finding.message,
        "value": finding.value,
        "unit": finding.unit or None,
        "warning": warning,
        "critical": critical,
    }
