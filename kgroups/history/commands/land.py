"""``kgroups history land``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kgroups.cli.frame.lazy_command import Command

from .hosts import salt_options
from .options import Engine, cluster_option, engine_options, need_pipeline, store_option

if TYPE_CHECKING:
    from ..hosts import GivenHosts


@click.command("land", cls=Command)
@click.argument("path")
@store_option
@cluster_option
@salt_options
@engine_options
def land(path: str, engine: Engine, hosts: GivenHosts, store: str, cluster: str | None) -> int:
    """Import records from Parquet files.

    The files have the columns key, value, partition, offset, and timestamp, as connectors write them. Records that are
    already in the store are skipped.
    """
    need_pipeline()
    from ..jobs.land import land as run
    from ..load.store import Store

    records = run(engine.open(), Store(store, cluster), path, hosts)
    click.echo(f"{records:,} new records", err=True)
    return 0
