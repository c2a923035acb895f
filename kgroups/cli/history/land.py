"""``kgroups history land``."""

from __future__ import annotations

import click

from .options import Engine, engine_options, need_pipeline, store_option


@click.command("land")
@click.argument("path")
@store_option
@engine_options
def land(path: str, engine: Engine, store: str) -> int:
    """Take records that something else wrote to Parquet.

    The files have the columns key, value, partition, offset and timestamp, as connectors write them. What the store has
    already is left out.
    """
    need_pipeline()
    from kgroups.pipeline.jobs.land import land as run
    from kgroups.pipeline.load.store import Store

    records = run(engine.open(), Store(store), path)
    click.echo(f"{records:,} new records", err=True)
    return 0
