"""``kgroups history report``."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr
from kgroups.cli.frame.output import print_failures
from kgroups.errors import EXIT_FAILED, HistoryError
from kgroups.model.outcome import Failure, Outcome, Scope

from ..engine import Engine as QueryEngine
from ..engine import open_tables
from ..jobs.known import age_of, end_of, span_remark
from ..load.store import Store
from ..report.data import Period
from ..report.file import check_target, write
from ..report.gather import gather
from ..report.migration import read_verdicts
from ..report.page import page
from ..rules import DEFAULTS, Rules, parse_rules
from ..transform.definitions import DERIVED, Span
from .engine import Engine, open_engine
from .options import Clusters, check_span


def report(
    engine: Engine,
    runs_on: str | None,
    clusters: Clusters,
    since: datetime,
    until: datetime | None,
    file: Path,
    earlier: Path | None,
    force: bool,
    verdicts: Path | None,
    rules: tuple[str, ...],
) -> int:
    """Run ``kgroups history report``; return the exit code."""
    output = earlier or file

    if not clusters.all_clusters:
        check_target(output, force)  # before anything is read, which may take long
    span, thresholds = Span(since, check_span(since, until)), parse_rules(rules)
    stores = clusters.open()
    paths = {store: path_of(store, output) if clusters.all_clusters else output for store in stores}
    for path in paths.values():
        check_target(path, force)
    failures: list[Failure] = []
    known = True
    with open_engine(engine, runs_on) as opened:
        for store, path in paths.items():
            try:
                known = run_report(opened, store, span, path, force, thresholds, verdicts) and known
            except HistoryError as error:
                if not clusters.all_clusters:
                    raise
                failures.append(Failure.of(error, Scope.CLUSTER, store.cluster))
            else:
                print_to_stderr(f"kgroups: {path} is written")
    outcome: Outcome[object] = Outcome(failures=tuple(failures))
    print_failures(outcome)
    return outcome.exit_code if known else EXIT_FAILED


def run_report(
    engine: QueryEngine,
    store: Store,
    span: Span,
    path: Path,
    force: bool = False,
    rules: Rules = DEFAULTS,
    verdicts: Path | None = None,
) -> bool:
    """Write the report; return whether the store has something of the time span.

    An existing report is replaced when the new one is complete.

    :param verdicts: the file with the verdicts about the migration of groups.
    :raises UsageError: if ``since`` is not before ``until``, or ``path`` is a file that is not a report.
    :raises HistoryError: if the store does not exist or cannot be read, or if the verdicts are about other clusters.
    """
    since, until = span
    check_span(since, until)
    check_target(path, force)
    cluster_id = store.identity().cluster_id
    judged = read_verdicts(verdicts, cluster_id) if verdicts else None
    snapshot = store.snapshot()
    age, end = age_of(snapshot), end_of(snapshot)
    outside = span_remark(snapshot, span)
    for line in filter(None, ("" if is_quiet() else age, outside)):
        print_to_stderr(f"kgroups: {line}")
    # What happened after the data is unknown: the report ends with them.
    shown = min(until, end + timedelta(milliseconds=1)) if end and since < end else until
    open_tables(engine, store, [*DERIVED, "retention"], Span(since, shown), rules)
    data = gather(engine, Period(since, shown), cluster_id, every=rules.bucket, judged=judged)
    unknown_until = until if end is None or until > end else None
    write(path, page(data._replace(age=age, unknown_until=unknown_until)), force)
    return outside is None


def path_of(store: Store, path: Path) -> Path:
    """Return the path of the report on one of several clusters: with its ID before the suffix."""
    return path.with_name(f"{path.stem}-{quote(store.cluster, safe='')}{path.suffix}")
