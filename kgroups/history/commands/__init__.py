"""``kgroups history``: collect and query the history in ``__consumer_offsets``."""

from __future__ import annotations

import click

from kgroups.cli.frame.lazy_command import LazyCommand, add_lazy_commands


@click.group("history")
def history() -> None:
    """Collect the history of groups, and query it.

    Lag over time, rebalances, members that joined and left: from the records of __consumer_offsets.

    Requires pip install 'kgroups[pipeline]'. Queries run on DuckDB, in this process. Large collections run on Spark, on
    this machine by default (--master, --remote), which requires Java 17.
    """


add_lazy_commands(
    history,
    LazyCommand(
        "collect",
        "kgroups.history.commands.collect:collect",
        "Collect new records into the store, once or continuously.",
    ),
    LazyCommand("show", "kgroups.history.commands.show:show", "Show a table of the store."),
    LazyCommand("rebalances", "kgroups.history.commands.show:rebalances", "Show rebalances."),
    LazyCommand("lag", "kgroups.history.commands.show:lag", "Show lag at each sample of the log end offsets."),
    LazyCommand("stale", "kgroups.history.commands.show:stale", "Show groups by the time of their last activity."),
    LazyCommand("sql", "kgroups.history.commands.show:sql", "Query the store with SQL."),
    LazyCommand("report", "kgroups.history.commands.report:report", "Write a report in HTML."),
    LazyCommand("land", "kgroups.history.commands.land:land", "Import records from Parquet files."),
    LazyCommand("dump", "kgroups.history.commands.dump:dump", "Write the log to Parquet or JSON lines, without Spark."),
    LazyCommand("compact", "kgroups.history.commands.upkeep:compact", "Merge the store's small files."),
    LazyCommand("expire", "kgroups.history.commands.upkeep:expire", "Delete old records from the store."),
    LazyCommand("materialize", "kgroups.history.commands.upkeep:materialize", "Prepare the store for fast queries."),
    LazyCommand("test", "kgroups.history.commands.verify:test", "Test whether the store is correct and complete."),
    LazyCommand(
        "publish", "kgroups.history.commands.publish:publish", "Register the store's files as Iceberg or Delta tables."
    ),
    LazyCommand("schema", "kgroups.history.commands.schema:schema", "Print the schema of a table, or of all tables."),
    LazyCommand("upgrade", "kgroups.history.commands.upkeep:upgrade", "Convert a store of an older version in place."),
)
