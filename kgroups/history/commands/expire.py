"""Delete old records from the store.

What is still in effect is kept: each partition's last commit, each group's last state, and the last complete sweep
of the cluster. Queries for later times have the same result as before.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command

from ..run.options import Ago, cluster_option, engine_options, need_queries, store_option, upkeep_engine_option

command = Command(
    "expire",
    __doc__,
    body="kgroups.history.run.upkeep:expire",
    check=need_queries,
    options=(
        store_option,
        cluster_option,
        click.option(
            "--older-than",
            type=Ago(),
            required=True,
            metavar="TIME",
            help="Delete records older than this: an age (30d), or a time in ISO 8601.",
        ),
        upkeep_engine_option,
        engine_options,
    ),
    examples=(
        ("Delete what is older than 30 days", "kgroups history expire --store history --older-than 30d"),
        ("Delete what is older than a date", "kgroups history expire --store history --older-than 2026-01-01"),
    ),
)
