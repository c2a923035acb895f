"""Examples in the help of commands: a sentence and a command line each."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "kgroups watch": (
        ("Watch all groups", "kgroups watch"),
        ("Watch groups of several clusters, every five seconds", "kgroups watch --profile 'eu-*' --interval 5s"),
        ("Write three refreshes as lines of JSON", "kgroups watch --count 3 | cat"),
    ),
    "kgroups exporter": (
        ("Serve metrics of all groups", "kgroups exporter --all-groups --listen :9308"),
        ("Serve metrics with one series per topic", "kgroups exporter --regex 'orders-.*' --by topic"),
        ("Print alert rules for Prometheus", "kgroups exporter --alerts"),
    ),
    "kgroups mcp": (
        ("Serve the groups of one cluster", "kgroups mcp -b localhost:9092"),
        ("Serve several clusters, and the history in a store", "kgroups mcp --profile 'eu-*' --store history"),
    ),
    "kgroups history collect": (
        ("Collect what is new, once", "kgroups history collect --store history"),
        (
            "Collect every minute, and keep 30 days",
            "kgroups history collect --store history --interval 1m --retention 30d",
        ),
        ("Collect several clusters into one store", "kgroups history collect --store history --profile 'eu-*'"),
    ),
    "kgroups history show": (
        ("Show the commits of the last hour", "kgroups history show commits --store history --since 1h"),
        ("Show those of one group, as CSV", "kgroups history show commits --store history --group orders -o csv"),
    ),
    "kgroups history rebalances": (
        ("Show the rebalances of a day", "kgroups history rebalances --store history --since 1d"),
        ("Show those of one group", "kgroups history rebalances --store history --group orders"),
    ),
    "kgroups history lag": (
        ("Show the lag of a group over time", "kgroups history lag --store history --group orders"),
        ("Show the lag of the last two hours", "kgroups history lag --store history --since 2h"),
    ),
    "kgroups history stale": (
        ("Show groups by their last activity", "kgroups history stale --store history"),
        ("Show the first ten", "kgroups history stale --store history --limit 10"),
    ),
    "kgroups history sql": (
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
    "kgroups history report": (
        ("Write a report of a week", "kgroups history report --store history --since 7d --file report.html"),
        ("Replace an older report", "kgroups history report --store history --file report.html --force"),
    ),
    "kgroups history land": (
        ("Import records of a dump", "kgroups history land dump.parquet --store history"),
        (
            "Import them for the cluster with this ID",
            "kgroups history land dump.parquet --store history --cluster kJlQT0csR_e4EeMiXXuU4Q",
        ),
    ),
    "kgroups history dump": (
        ("Write the log as JSON lines", "kgroups history dump"),
        ("Write the log to Parquet files", "kgroups history dump --parquet dump"),
    ),
    "kgroups history compact": (
        ("Merge small files", "kgroups history compact --store history"),
        ("Merge those of one cluster", "kgroups history compact --store history --cluster kJlQT0csR_e4EeMiXXuU4Q"),
    ),
    "kgroups history expire": (
        ("Delete what is older than 30 days", "kgroups history expire --store history --older-than 30d"),
        ("Delete what is older than a date", "kgroups history expire --store history --older-than 2026-01-01"),
    ),
    "kgroups history materialize": (
        ("Prepare a store", "kgroups history materialize --store history"),
        (
            "Prepare the data of one cluster",
            "kgroups history materialize --store history --cluster kJlQT0csR_e4EeMiXXuU4Q",
        ),
    ),
    "kgroups history test": (
        ("Test a store, and compare it with the cluster", "kgroups history test --store history"),
        ("Test a store without a cluster", "kgroups history test --store history --store-only"),
    ),
    "kgroups history publish": (
        ("Register the tables in a catalog of Iceberg", "kgroups history publish --store history --iceberg catalog"),
        ("Write the logs of Delta tables", "kgroups history publish --store history --delta"),
    ),
    "kgroups history schema": (
        ("Print the schema of a table", "kgroups history schema commits"),
        ("Print all schemas", "kgroups history schema"),
    ),
    "kgroups history upgrade": (
        ("Convert a store in place", "kgroups history upgrade --store history"),
        ("Test it afterwards", "kgroups history test --store history --store-only"),
    ),
}
"""Command -> its examples."""
