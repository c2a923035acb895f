"""Collect new records into the store, once or continuously.

Each record is stored exactly once: after an interruption, or a kill, the next run continues where this one ended.
Small files are merged automatically.

With several profiles, each cluster is collected on its own, into the same store. One that fails is named, and with
--interval tried again after TIME.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.options import Duration, file_option, fleet_options

from ..run.hosts import hosts_options
from ..run.options import engine_options, need_pipeline, store_option, topic_option

command = Command(
    "collect",
    __doc__,
    body="kgroups.history.run.collect:collect",
    check=need_pipeline,
    options=(
        store_option,
        click.option(
            "--interval",
            type=Duration(),
            metavar="TIME",
            help="Run continuously, one batch every TIME, until Ctrl-C or SIGTERM.",
        ),
        click.option("--duration", type=Duration(), metavar="TIME", help="With --interval: stop after TIME."),
        click.option(
            "--sample-every",
            type=Duration(),
            default="10s",
            show_default=True,
            help="Time between two samples of the log end offsets.",
        ),
        click.option(
            "--max-records",
            type=click.IntRange(1),
            default=1_000_000,
            show_default=True,
            metavar="N",
            help="Maximum number of records in a batch.",
        ),
        click.option(
            "--openlineage",
            metavar="FILE|URL",
            help=(
                "Write OpenLineage events, from topics to groups, to a file or a server.  [env: OPENLINEAGE_API_KEY, "
                "its key]"
            ),
        ),
        click.option(
            "--retention",
            type=Duration(),
            metavar="TIME",
            help=(
                "Delete what is older than TIME, except what is still in effect, at most once a day.  [default: keep "
                "all]"
            ),
        ),
        file_option("--systemd-unit", "kgroups-history.service", "Print a unit for systemd, and exit."),
        topic_option,
        hosts_options("as in the store; keep if it is new"),
        engine_options,
        fleet_options,
    ),
    examples=(
        ("Collect what is new, once", "kgroups history collect --store history"),
        (
            "Collect every minute, and keep 30 days",
            "kgroups history collect --store history --interval 1m --retention 30d",
        ),
        ("Collect several clusters into one store", "kgroups history collect --store history --profile 'eu-*'"),
    ),
    sections={"Other": "--systemd-unit"},
)
