"""Write the report of a check as monitoring plugin text, JSON, JUnit or OpenMetrics."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TextIO

from kgroups.model.health.findings import Finding
from kgroups.model.health.report import ANSWERED, CLUSTER, Report
from kgroups.model.severity import Severity

from ..wrapping import write_wrapped
from .text import unreachable_headline, write_terminal

FORMATS = ("text", "json", "junit", "openmetrics")


def write_report(report: Report, fmt: str, stream: TextIO, cluster_id: str | None, *, verbose: bool = False) -> None:
    """Write the report in one of :data:`FORMATS`; ``verbose`` also lists what passed as text on a terminal."""
    if fmt == "text" and verbose and stream.isatty():
        write_terminal(report, stream, verbose=True)
        return
    write: Callable[[Report, TextIO, str | None], None] = import_module(f"kgroups.render.health.{fmt}").write
    write(report, stream, cluster_id)


def write_unreachable(reason: str, at: int, fmt: str, stream: TextIO) -> None:
    """Write a report, in one of :data:`FORMATS`, that no result is available.

    :param at: milliseconds since 1970.
    """
    if fmt == "text":
        write_wrapped(stream, unreachable_headline(reason))
    else:
        write_report(unreachable(reason, at), fmt, stream, None)


def unreachable(reason: str, at: int) -> Report:
    """Return a report that no result is available."""
    return Report((Finding(CLUSTER, ANSWERED, Severity.UNKNOWN, reason),), at)
