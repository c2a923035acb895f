"""``kgroups history report``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from ..frame.exit_status import is_quiet, print_to_stderr
from ..frame.lazy_command import Command
from .options import (
    WITHOUT_SPARK,
    Ago,
    Engine,
    cluster_option,
    engine_options,
    need_pipeline,
    open_engine,
    query_engine_option,
    rule_option,
    store_option,
    until_option,
)


@click.command("report", cls=Command)
@store_option
@cluster_option
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
@click.option(
    "-o",
    "--output",
    "earlier",
    type=click.Path(dir_okay=False, path_type=Path),
    hidden=True,
    help="Earlier name of --file; in all other commands, it is a format.",
)
@click.option("--force", is_flag=True, help="Replace an existing file even if it is not a report.")
@rule_option
@query_engine_option
@engine_options
def report(
    engine: Engine,
    runs_on: str | None,
    store: str,
    cluster: str | None,
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
    if earlier and not is_quiet():
        print_to_stderr("kgroups: note: -o of history report is replaced by --file")
    need_pipeline(*WITHOUT_SPARK)
    from kgroups.pipeline.report.file import check_target

    check_target(output, force)  # before the query, which may take long
    from kgroups.pipeline.jobs.report import run_report
    from kgroups.pipeline.load.store import Store
    from kgroups.pipeline.rules import parse_rules

    end = until or datetime.now(UTC)
    with open_engine(engine, runs_on) as opened:
        path = run_report(opened, Store(store, cluster), since, end, output, force, parse_rules(rules))
    click.echo(f"kgroups: {path} is written", err=True)
    return 0
