"""``kgroups history report``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from kgroups.cli.frame.deprecated_options import deprecated_option
from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.run_query import print_failures
from kgroups.errors import HistoryError

from .options import (
    WITHOUT_SPARK,
    Ago,
    Clusters,
    Engine,
    clusters_option,
    engine_options,
    need_pipeline,
    open_engine,
    query_engine_option,
    rule_option,
    until_option,
)


@click.command("report", cls=Command)
@clusters_option("Write a report on each cluster of the store; its ID is added to the name of the FILE.")
@click.option(
    "--since",
    type=Ago(),
    default="24h",
    show_default=True,
    metavar="TIME",
    help="Start time: an age (2h, 7d), or a time in ISO 8601.",
)
@until_option
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="File to write. An existing report is replaced.",
)
@deprecated_option("-o", "--output", "earlier", replacement="--file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace an existing file even if it is not a report.")
@rule_option
@query_engine_option
@engine_options
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
    """Write a report in HTML.

    One file with charts that works offline: problems, lag over time, rebalances, groups by topic.
    """
    output = earlier or file
    need_pipeline(*WITHOUT_SPARK)
    from kgroups.model.outcome import Failure, Outcome, Scope

    from ..jobs.report import path_of, run_report
    from ..report.file import check_target
    from ..rules import parse_rules
    from ..transform.definitions import Span

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
