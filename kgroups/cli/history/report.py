"""``kgroups history report``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from .options import Ago, Engine, engine_options, need_pipeline, store_option, until_option


@click.command("report")
@store_option
@click.option(
    "--since", type=Ago(), default="24h", show_default=True, metavar="TIME", help="From then on: an age or ISO 8601."
)
@until_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Where the page is put. A report that is there is replaced.",
)
@click.option("--force", is_flag=True, help="Replace a file that is no report, too.")
@engine_options
def report(engine: Engine, store: str, since: datetime, until: datetime | None, output: Path, force: bool) -> int:
    """Write a page about what groups did.

    One HTML file, with charts, that needs no network: what is wrong, lag over time, rebalances, who reads what.
    """
    need_pipeline("pyspark", "pyarrow", "numpy", "pandas", "plotly")
    from kgroups.pipeline.report.file import check_target

    check_target(output, force)  # before Spark takes its time
    from kgroups.pipeline.jobs.report import run_report

    path = run_report(engine.open(), store, since, until or datetime.now(UTC), output, force)
    click.echo(f"kgroups: {path} is written", err=True)
    return 0
