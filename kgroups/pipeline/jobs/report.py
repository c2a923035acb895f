"""Write a report on a time span of a store."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from kgroups.errors import UsageError

from ..engine import Engine, open_tables
from ..load.store import Store
from ..report.data import Period
from ..report.file import check_target, write
from ..report.gather import gather
from ..report.page import page
from ..rules import DEFAULTS, Rules
from ..transform.definitions import DERIVED, Span


def run_report(
    engine: Engine,
    store: Store,
    since: datetime,
    until: datetime,
    path: Path,
    force: bool = False,
    rules: Rules = DEFAULTS,
) -> Path:
    """Write the report, and return its path. An existing report is replaced when the new one is complete.

    :raises UsageError: if ``since`` is not before ``until``, or ``path`` is a file that is not a report.
    :raises HistoryError: if there is no store, or it cannot be read.
    """
    if since >= until:
        raise UsageError(f"--since {since:%Y-%m-%dT%H:%M:%SZ} is not before --until {until:%Y-%m-%dT%H:%M:%SZ}")
    check_target(path, force)
    cluster_id = store.identity().cluster_id
    open_tables(engine, store, [*DERIVED, "retention"], Span(since, until), rules)
    write(path, page(gather(engine, Period(since, until), cluster_id, every=rules.bucket)), force)
    return path
