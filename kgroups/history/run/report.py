"""``kgroups history report``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr
from kgroups.cli.frame.output import print_failures
from kgroups.errors import HistoryError, UsageError
from kgroups.model.outcome import Failure, Outcome, Scope

from ..engine import Engine as QueryEngine
from ..engine import open_tables
from ..jobs.show import age_of, end_of
from ..load.store import Store
from ..report.data import Period
from ..report.file import check_target, write
from ..report.gather import gather
from ..report.page import page
from ..rules import DEFAULTS, Rules, parse_rules
from ..transform.definitions import DERIVED, Span
from .engine import Engine, open_engine
from .options import Clusters


def report(
    engine: Engine,
    runs_on: str | None,
    clusters: Clusters,
    since: datetime,
    until: datetime | None,
    file: Path,
    earlier: Path | None,
    force: bool,
    rules: tuple[str, ...],
) -> int:
    """Run ``kgroups history report``; return the exit code."""
    output = earlier or file

    if not clusters.all_clusters:
        check_target(output, force)  # before anything is read, which may take long
    stores, span, thresholds = clusters.open(), Span(since, until or datetime.now(UTC)), parse_rules(rules)
    paths = {store: path_of(store, output) if clusters.all_clusters else output for store in stores}
    for path in paths.values():
        check_target(path, force)
    failures: list[Failure] = []
    with open_engine(engine, runs_on) as opened:
        for store, path in paths.items():
            try:
                run_report(opened, store, span, path, force, thresholds)
            except HistoryError as error:
                if not clusters.all_clusters:
                    raise
                failures.append(Failure.of(error, Scope.CLUSTER, store.cluster))
            else:
                print_to_stderr(f"kgroups: {path} is written")
    outcome: Outcome[object] = Outcome(failures=tuple(failures))
    print_failures(outcome)
    return outcome.exit_code


def run_report(
    engine: QueryEngine,
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
    snapshot = store.snapshot()
    age, end = age_of(snapshot), end_of(snapshot)
    if not is_quiet():
        print_to_stderr(f"kgroups: {age}")
    # What happened after the data is unknown: the report ends with them.
    shown = min(until, end + timedelta(milliseconds=1)) if end and since < end else until
    open_tables(engine, store, [*DERIVED, "retention"], Span(since, shown), rules)
    data = gather(engine, Period(since, shown), cluster_id, every=rules.bucket)
    unknown_until = until if end is None or until > end else None
    write(path, page(data._replace(age=age, unknown_until=unknown_until)), force)


def path_of(store: Store, path: Path) -> Path:
    """Return the path of the report on one of several clusters: with its ID before the suffix."""
    return path.with_name(f"{path.stem}-{quote(store.cluster, safe='')}{path.suffix}")
