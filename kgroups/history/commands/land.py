"""Import records from Parquet files.

The files have the columns key, value, partition, offset, and timestamp, as connectors write them. Records that are
already in the store are skipped.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command

from ..run.hosts import salt_options
from ..run.options import cluster_option, engine_options, need_pipeline, store_option

command = Command(
    "land",
    __doc__,
    body="kgroups.history.run.collect:land",
    check=need_pipeline,
    options=(
        click.argument("path"),
        store_option,
        cluster_option,
        salt_options,
        engine_options,
    ),
    examples=(
        ("Import records of a dump", "kgroups history land dump.parquet --store history"),
        (
            "Import them for the cluster with this ID",
            "kgroups history land dump.parquet --store history --cluster kJlQT0csR_e4EeMiXXuU4Q",
        ),
    ),
)
