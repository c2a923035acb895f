"""``kgroups history``: what was, from ``__consumer_offsets``. Each subcommand in a file."""

from __future__ import annotations

import click

from .collect import collect
from .dump import dump
from .land import land
from .report import report
from .show import lag, rebalances, show, sql, stale
from .upkeep import compact, expire


@click.group("history")
def history() -> None:
    """Collect what groups did, and ask about it later.

    Lag over time, rebalances, who left and when, from __consumer_offsets.

    Collecting and asking run on Spark, on this machine unless --master or --remote says otherwise; they need
    pip install 'kgroups[pipeline]' and Java 17. dump runs without Spark.
    """


for _command in (collect, show, rebalances, lag, stale, sql, report, land, dump, compact, expire):
    history.add_command(_command)
