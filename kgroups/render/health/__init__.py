"""A report of a check, as text for monitoring, JSON, JUnit or OpenMetrics."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TextIO

from kgroups.model.health.findings import Finding
from kgroups.model.health.report import CLUSTER, Report
from kgroups.model.health.severity import Severity

FORMATS = ("text", "json", "junit", "openmetrics")


def write_report(report: Report, fmt: str, stream: TextIO, cluster_id: str | None) -> None:
    """In one of :data:`FORMATS`."""
    write: Callable[[Report, TextIO, str | None], None] = import_module(f"kgroups.render.health.{fmt}").write
    write(report, stream, cluster_id)


def write_no_answer(why: str, at: int, fmt: str, stream: TextIO) -> None:
    """In the same formats, that nothing could be found out at all."""
    if fmt == "text":
        from .text import headline_of_no_answer

        stream.write(headline_of_no_answer(why) + "\n")
    else:
        write_report(Report((Finding(CLUSTER, "answered", Severity.UNKNOWN, why),), at), fmt, stream, None)
