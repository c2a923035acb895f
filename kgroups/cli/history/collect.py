"""``kgroups history collect``."""

from __future__ import annotations

from functools import partial

import click

from kgroups.model.counts import count

from ..frame.options import ConnectionOptions, Duration, connection_options
from .options import Engine, engine_options, store_option, topic_option


@click.command("collect")
@store_option
@click.option(
    "--interval", type=Duration(), metavar="TIME", help="Run continuously, one batch every TIME, until Ctrl-C."
)
@click.option("--duration", type=Duration(), metavar="TIME", help="With --interval: stop after TIME.")
@click.option(
    "--sample-every",
    type=Duration(),
    default="10s",
    show_default=True,
    help="Time between two samples of the log end offsets.",
)
@click.option(
    "--max-records",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    metavar="N",
    help="Maximum number of records in a batch.",
)
@topic_option
@engine_options
@connection_options
def collect(
    connection: ConnectionOptions,
    engine: Engine,
    store: str,
    interval: float | None,
    duration: float | None,
    sample_every: float,
    max_records: int,
    topic: str,
) -> int:
    """Collect new records into the store, once or continuously.

    Each record is stored exactly once: after an interruption, or a kill, the next run continues where this one ended.
    """
    from .options import need_pipeline

    need_pipeline()
    from kgroups.pipeline.jobs.collect import SMALL, Plan
    from kgroups.pipeline.jobs.collect import collect as run
    from kgroups.pipeline.load.store import Store

    plan = Plan(connection.settings, topic, interval, duration, sample_every, max_records)
    start = partial(engine.open, short=interval is None)
    total = run(start, Store(store), plan, _print_line, 0 if engine.chosen else SMALL)
    click.echo(
        f"{count(total.records, 'record')} in {count(total.batches, 'batch', 'batches')}, {total.seconds:.1f} s; "
        f"{count(total.behind, 'offset')} behind",
        err=True,
    )
    return 0


def _print_line(line: str) -> None:
    click.echo(f"kgroups: {line}", err=True)
