"""``kgroups history dump``."""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgroups.cli.frame.lazy_command import Command
from kgroups.cli.frame.options import ConnectionOptions, connection_options
from kgroups.errors import UsageError
from kgroups.model.counts import count

from .hosts import hosts_options
from .options import need_packages, since_option, topic_option, until_option

if TYPE_CHECKING:
    from ..hosts import GivenHosts

_TABLES = ("decoded", "records", "commits", "group_metadata", "members", "assignments", "epochs", "undecoded")


@click.command("dump", cls=Command)
@click.option("--table", type=click.Choice(_TABLES), default="decoded", show_default=True, help="Table to write.")
@click.option(
    "--parquet",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write Parquet files to this directory.  [default: JSON lines on stdout]",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Number of processes that read.  [default: one for each core]",
)
@topic_option
@since_option
@until_option
@hosts_options("keep")
@connection_options
def dump(
    connection: ConnectionOptions,
    hosts: GivenHosts,
    table: str,
    parquet: Path | None,
    processes: int | None,
    topic: str,
    since: datetime | None,
    until: datetime | None,
) -> int:
    """Write the log to Parquet or JSON lines, without Spark.

    Faster than collect for a single query; use collect for repeated queries.
    """
    need_packages("pyarrow", "numpy")
    from ..extract.options import TABLES
    from ..jobs.dump import Dump, dump_json, dump_parquet

    if processes and parquet is None:
        raise UsageError("--processes requires --parquet: JSON lines are written by one process")
    began = time.monotonic()
    times = _milliseconds(since), _milliseconds(until)
    request = Dump(connection.settings, TABLES[table], topic, *times, hosts.for_new_store())
    if parquet is None:
        rows = dump_json(request, sys.stdout)
        sys.stdout.flush()
    else:
        rows = dump_parquet(request, parquet, processes or os.cpu_count() or 1)
    seconds = time.monotonic() - began
    click.echo(
        f"kgroups: {count(rows, 'row')} in {seconds:.1f} s, {rows / max(seconds, 0.001):,.0f} a second", err=True
    )
    return 0


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)
