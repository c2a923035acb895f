"""Collect the history of groups, and query it.

Lag over time, rebalances, members that joined and left: from the records of __consumer_offsets.

Requires pip install 'kgroups[pipeline]'. Queries run on DuckDB, in this process. Large collections run on Spark, on
this machine by default (--master, --remote), which requires Java 17.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from kgroups.cli.frame.command import Command, CommandGroup, Shown
from kgroups.cli.frame.deprecated_options import deprecated_option
from kgroups.cli.frame.exit_codes import ENDED, EXIT_CODES
from kgroups.cli.frame.group_options import complete_group, complete_topic
from kgroups.cli.frame.options import (
    Duration,
    completer,
    connection_options,
    deferred_connection_options,
    fleet_options,
    output_options,
)
from kgroups.cli.frame.systemd_option import systemd_option

from .hosts import hosts_options, salt_options
from .options import (
    WITHOUT_SPARK,
    Ago,
    cluster_option,
    clusters_option,
    engine_options,
    need_packages,
    need_pipeline,
    query_engine_option,
    rule_option,
    since_option,
    store_option,
    topic_option,
    until_option,
    untrusted_options,
)

LIMIT = 10_000
"""Rows that are shown by default."""

NAMESPACE = "kgroups"
"""The default namespace of the tables in a catalog of Iceberg."""

_TABLES = ("decoded", "records", "commits", "group_metadata", "members", "assignments", "epochs", "undecoded")


class Property(click.ParamType[tuple[str, str]]):
    """A property as ``KEY=VALUE``."""

    name = "property"

    def convert(
        self, value: str | tuple[str, str], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, separator, text = value.partition("=")
        if not (key and separator):
            self.fail("must be KEY=VALUE, such as uri=http://localhost:8181", param, ctx)  # the value may be a secret
        return key, text


_group = click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="Only this group. Repeatable.",
    shell_complete=complete_group,
)
_topic = click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC",
    help="Only this topic. Repeatable.",
    shell_complete=complete_topic,
)
_limit = click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Show at most N rows, the latest; with --all-clusters, of each cluster. If the default omits rows, the exit "
    f"code is 1.  [default: {LIMIT}]",
)


_clusters = clusters_option("Query all clusters of the store; the first column is the ID of the cluster.")


_WINDOW = (
    output_options,
    query_engine_option,
    engine_options,
    _clusters,
    _group,
    _topic,
    since_option,
    until_option,
    _limit,
)

_collect = Command(
    "collect",
    """Collect new records into the store, once or continuously.

    Each record is stored exactly once: after an interruption, or a kill, the next run continues where this one ended.
    Small files are merged automatically.

    With several profiles, each cluster is collected on its own, into the same store. One that fails is named, and with
    --interval tried again after TIME.
    """,
    body="kgroups.history.commands.collect:collect",
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
        systemd_option("--systemd-unit", "kgroups-history.service", "Print a unit for systemd, and exit."),
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

_show = Command(
    "show",
    """Show a table of the store.

    Collected: records, commits, group_metadata, members, assignments, epochs, undecoded, heads, coverage, baseline,
    sweeps, share_states, share_coverage.
    Derived: latest_offsets, commit_rate, rebalances, group_states, memberships, lag, verdicts, stale, expiring,
    anomalies, completeness.
    """,
    body="kgroups.history.commands.show:show",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(
        click.argument("table", shell_complete=completer("kgroups.history.commands.views:complete_shown_table")),
        rule_option,
        *_WINDOW,
    ),
    examples=(
        ("Show the commits of the last hour", "kgroups history show commits --store history --since 1h"),
        ("Show those of one group, as CSV", "kgroups history show commits --store history --group orders -o csv"),
    ),
    views=(Shown("kgroups.history.commands.views:view_of_line"),),
)

_rebalances = Command(
    "rebalances",
    """Show rebalances.

    Shows the members that joined, left, or restarted, and how long the rebalance or the pause in commits took.
    """,
    body="kgroups.history.commands.show:rebalances",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(*_WINDOW,),
    examples=(
        ("Show the rebalances of a day", "kgroups history rebalances --store history --since 1d"),
        ("Show those of one group", "kgroups history rebalances --store history --group orders"),
    ),
    views=(Shown("kgroups.history.commands.views:view_of_line"),),
)

_lag = Command(
    "lag",
    """Show lag at each sample of the log end offsets.""",
    body="kgroups.history.commands.show:lag",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(*_WINDOW,),
    examples=(
        ("Show the lag of a group over time", "kgroups history lag --store history --group orders"),
        ("Show the lag of the last two hours", "kgroups history lag --store history --since 2h"),
    ),
    views=(Shown("kgroups.history.commands.views:view_of_line"),),
)

_stale = Command(
    "stale",
    """Show groups by the time of their last activity.""",
    body="kgroups.history.commands.show:stale",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(
        rule_option,
        *_WINDOW,
    ),
    examples=(
        ("Show groups by their last activity", "kgroups history stale --store history"),
        ("Show the first ten", "kgroups history stale --store history --limit 10"),
    ),
    views=(Shown("kgroups.history.commands.views:view_of_line"),),
)

_sql = Command(
    "sql",
    """Query the store with SQL.

    Every table, collected or derived, is available by its name:

    kgroups history sql "SELECT `group`, count(*) FROM rebalances GROUP BY 1"
    """,
    body="kgroups.history.commands.show:sql",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(
        click.argument("query"),
        _clusters,
        since_option,
        until_option,
        rule_option,
        untrusted_options,
        output_options,
        query_engine_option,
        engine_options,
    ),
    examples=(
        (
            "Count the commits of each group",
            'kgroups history sql "select `group`, count(*) from commits group by 1" --store history',
        ),
        ("Read a query from another program", 'kgroups history sql "$(cat query.sql)" --store history'),
        (
            "Run a query of unknown origin, with limits",
            'kgroups history sql "$QUERY" --store history --untrusted --max-rows 100',
        ),
    ),
    sections={"Safety": "--untrusted --max-rows --max-time"},
)

_report = Command(
    "report",
    """Write a report in HTML.

    One file with charts that works offline: problems, lag over time, rebalances, groups by topic.
    """,
    body="kgroups.history.commands.report:report",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(
        clusters_option("Write a report on each cluster of the store; its ID is added to the name of the FILE."),
        click.option(
            "--since",
            type=Ago(),
            default="24h",
            show_default=True,
            metavar="TIME",
            help="Start time: an age (2h, 7d), or a time in ISO 8601.",
        ),
        until_option,
        click.option(
            "--file",
            type=click.Path(dir_okay=False, path_type=Path),
            default="report.html",
            show_default=True,
            metavar="FILE",
            help="File to write. An existing report is replaced.",
        ),
        deprecated_option(
            "-o", "--output", "earlier", replacement="--file", type=click.Path(dir_okay=False, path_type=Path)
        ),
        click.option("--force", is_flag=True, help="Replace an existing file even if it is not a report."),
        rule_option,
        query_engine_option,
        engine_options,
    ),
    examples=(
        ("Write a report of a week", "kgroups history report --store history --since 7d --file report.html"),
        ("Replace an older report", "kgroups history report --store history --file report.html --force"),
    ),
    sections={"Output": "--file --force"},
)

_land = Command(
    "land",
    """Import records from Parquet files.

    The files have the columns key, value, partition, offset, and timestamp, as connectors write them. Records that are
    already in the store are skipped.
    """,
    body="kgroups.history.commands.land:land",
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

_dump = Command(
    "dump",
    """Write the log to Parquet or JSON lines, without Spark.

    Faster than collect for a single query; use collect for repeated queries.
    """,
    body="kgroups.history.commands.dump:dump",
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

_compact = Command(
    "compact",
    """Merge the store's small files.

    Queries and collectors can run at the same time. Files that a killed process left are deleted after a day.
    """,
    body="kgroups.history.commands.upkeep:compact",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(
        store_option,
        cluster_option,
    ),
    examples=(
        ("Merge small files", "kgroups history compact --store history"),
        ("Merge those of one cluster", "kgroups history compact --store history --cluster kJlQT0csR_e4EeMiXXuU4Q"),
    ),
)

_expire = Command(
    "expire",
    """Delete old records from the store.

    What is still in effect is kept: each partition's last commit, each group's last state, and the last complete sweep
    of the cluster. Queries for later times have the same result as before.
    """,
    body="kgroups.history.commands.upkeep:expire",
    check=partial(need_pipeline, *WITHOUT_SPARK),
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
    ),
    examples=(
        ("Delete what is older than 30 days", "kgroups history expire --store history --older-than 30d"),
        ("Delete what is older than a date", "kgroups history expire --store history --older-than 2026-01-01"),
    ),
)

_materialize = Command(
    "materialize",
    """Prepare the store for fast queries.

    collect does it automatically. Answers are the same without it, but queries then read all commits. Merges small
    files first if there are many entries.
    """,
    body="kgroups.history.commands.upkeep:materialize",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(
        store_option,
        cluster_option,
    ),
    examples=(
        ("Prepare a store", "kgroups history materialize --store history"),
        (
            "Prepare the data of one cluster",
            "kgroups history materialize --store history --cluster kJlQT0csR_e4EeMiXXuU4Q",
        ),
    ),
)

_test = Command(
    "test",
    """Test whether the store is correct and complete.

    Tests that the files are those of the manifest; that each record is stored once, in a range that was read; and that
    decoded rows and records belong together. Then compares the latest offsets with the cluster: what groups committed
    after the last collect is read from the log. Nothing is changed.

    Exit codes: 0 all checks are ok; 1 a check failed; 3 no check failed, but the result of one is unknown.
    """,
    body="kgroups.history.commands.verify:test",
    check=partial(need_pipeline, *WITHOUT_SPARK),
    options=(
        store_option,
        cluster_option,
        click.option("--store-only", is_flag=True, help="Do not compare the store with the cluster."),
        output_options,
        deferred_connection_options,
    ),
    examples=(
        ("Test a store, and compare it with the cluster", "kgroups history test --store history"),
        ("Test a store without a cluster", "kgroups history test --store history --store-only"),
    ),
    exits=(
        ("0", "All checks are ok."),
        ("1", "A check failed, or no check was possible."),
        EXIT_CODES[2],
        ("3", "No check failed, but the result of one is unknown."),
        *ENDED,
    ),
    views=(Shown("kgroups.history.commands.views:VERIFIED"),),
)

_publish = Command(
    "publish",
    """Register the store's files as Iceberg or Delta tables.

    Files are not copied. Repeat it after collect, compact, or expire: it adds new files to each table, and removes
    those that were replaced, in one commit. Requires pip install 'kgroups[iceberg]' or 'kgroups[delta]', but no Java.
    """,
    body="kgroups.history.commands.publish:publish",
    check=partial(need_pipeline, "pyarrow", "numpy", "obstore"),
    options=(
        store_option,
        click.option(
            "--iceberg",
            "catalog",
            metavar="CATALOG",
            help="Publish to an Iceberg catalog, by its name in ~/.pyiceberg.yaml or PYICEBERG_CATALOG__NAME__….",
        ),
        click.option(
            "--catalog-property",
            "properties",
            type=Property(),
            multiple=True,
            metavar="KEY=VALUE",
            help="Property of the Iceberg catalog, such as uri=… or warehouse=…. Repeatable. Put secrets into "
            "~/.pyiceberg.yaml.",
        ),
        click.option(
            "--namespace",
            metavar="NAME",
            help=f"Namespace of the tables in the Iceberg catalog.  [default: {NAMESPACE}]",
        ),
        click.option("--delta", is_flag=True, help="Publish as Delta tables, in the table folders of the store."),
    ),
    examples=(
        ("Register the tables in a catalog of Iceberg", "kgroups history publish --store history --iceberg catalog"),
        ("Write the logs of Delta tables", "kgroups history publish --store history --delta"),
    ),
)

_schema = Command(
    "schema",
    """Print the schema of a table, or of all tables.

    The JSON Schema is that of one row of show TABLE -o json; without TABLE, of all tables by name under $defs. For the
    table decoded, it is that of one line of dump.
    """,
    body="kgroups.history.commands.schema:schema",
    options=(
        click.argument(
            "table", required=False, shell_complete=completer("kgroups.history.commands.views:complete_table")
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(["json", "markdown"]),
            default="json",
            show_default=True,
            help="json: a JSON Schema (2020-12). markdown: the data dictionary of all tables.",
        ),
    ),
    examples=(
        ("Print the schema of a table", "kgroups history schema commits"),
        ("Print all schemas", "kgroups history schema"),
    ),
)

_upgrade = Command(
    "upgrade",
    """Convert a store of an older version in place.

    Decodes the stored records again where this version decodes them otherwise, and prepares the store for fast
    queries, as materialize does. An upgrade that was killed can be repeated. Stop collectors first.
    """,
    body="kgroups.history.commands.upkeep:upgrade",
    check=need_pipeline,
    options=(store_option,),
    examples=(
        ("Convert a store in place", "kgroups history upgrade --store history"),
        ("Test it afterwards", "kgroups history test --store history --store-only"),
    ),
)

command = CommandGroup(
    "history",
    __doc__,
    (
        _collect,
        _show,
        _rebalances,
        _lag,
        _stale,
        _sql,
        _report,
        _land,
        _dump,
        _compact,
        _expire,
        _materialize,
        _test,
        _publish,
        _schema,
        _upgrade,
    ),
    page="history.md",
)
