"""Write a report on a time span of a store."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

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
    span: Span,
    path: Path,
    force: bool = False,
    rules: Rules = DEFAULTS,
) -> None:
    """Write the report. An existing report is replaced when the new one is complete.

    :raises UsageError: if ``since`` is not before ``until``, or ``path`` is a file that is not a report.
    :raises HistoryError: if there is no store, or it cannot be read.
    """
    since, until = span
    if since >= until:
        raise UsageError(f"--since {since:%Y-%m-%dT%H:%M:%SZ} is not before --until {until:%Y-%m-%dT%H:%M:%SZ}")
    check_target(path, force)
    cluster_id = store.identity().cluster_id
    open_tables(engine, store, [*DERIVED, "retention"], span, rules)
    write(path, page(gather(engine, Period(since, until), cluster_id, every=rules.bucket)), force)


def path_of(store: Store, path: Path) -> Path:
    """Return the path of the report on one of several clusters: with its ID before the suffix."""
    return path.with_name(f"{path.stem}-{quote(store.cluster, safe='')}{path.suffix}")
