"""Write the log to Parquet or JSON lines, without Spark.

Faster than collect for a single query; use collect for repeated queries.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.options import connection_options

from ..run.hosts import hosts_options
from ..run.options import need_packages, since_option, topic_option, until_option

_TABLES = ("decoded", "records", "commits", "group_metadata", "members", "assignments", "epochs", "undecoded")

command = Command(
    "dump",
    __doc__,
    body="kgroups.history.run.dump:dump",
    check=partial(need_packages, "pyarrow", "numpy"),
    options=(
        click.option(
            "--table", type=click.Choice(_TABLES), default="decoded", show_default=True, help="Table to write."
        ),
        click.option(
            "--parquet",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Write Parquet files to this directory.  [default: JSON lines on stdout]",
        ),
        click.option(
            "--processes",
            type=click.IntRange(1, 64),
            metavar="N",
            help="Number of processes that read.  [default: one for each core]",
        ),
        topic_option,
        since_option,
        until_option,
        hosts_options("keep"),
        connection_options,
    ),
    examples=(
        ("Write the log as JSON lines", "kgroups history dump"),
        ("Write the log to Parquet files", "kgroups history dump --parquet dump"),
    ),
)
