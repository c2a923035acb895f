"""``kgroups history report``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from kgroups.cli.frame.output import print_failures
from kgroups.errors import HistoryError
from kgroups.model.outcome import Failure, Outcome, Scope

from ..jobs.report import path_of, run_report
from ..report.file import check_target
from ..rules import parse_rules
from ..transform.definitions import Span
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
                click.echo(f"kgroups: {path} is written", err=True)
    outcome: Outcome[object] = Outcome(failures=tuple(failures))
    print_failures(outcome)
    return outcome.exit_code
