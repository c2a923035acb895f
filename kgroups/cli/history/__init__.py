"""``kgroups history``: what was, from ``__consumer_offsets``. Each subcommand in a file."""

from __future__ import annotations

import click

from ..frame.lazy_command import Later, add_later


@click.group("history")
def history() -> None:
    """Collect what groups did, and ask about it later.

    Lag over time, rebalances, who left and when, from __consumer_offsets.

    Collecting and asking run on Spark, on this machine unless --master or --remote says otherwise; they need
    pip install 'kgroups[pipeline]' and Java 17. dump runs without Spark.
    """


add_later(
    history,
    Later("collect", "history.collect:collect", "Read what is new into the store, once or on and on."),
    Later("show", "history.show:show", "Show a table of the store."),
    Later("rebalances", "history.show:rebalances", "Show every rebalance."),
    Later("lag", "history.show:lag", "Show lag as it was at each sample of the log ends."),
    Later("stale", "history.show:stale", "Show groups by when they were last heard of."),
    Later("sql", "history.show:sql", "Ask the store in SQL."),
    Later("report", "history.report:report", "Write a page about what groups did."),
    Later("land", "history.land:land", "Take records that something else wrote to Parquet."),
    Later("dump", "history.dump:dump", "Write the log to Parquet or JSON lines, without Spark."),
    Later("compact", "history.upkeep:compact", "Merge the store's many small files into few."),
    Later("expire", "history.upkeep:expire", "Forget what is older than a time."),
)
