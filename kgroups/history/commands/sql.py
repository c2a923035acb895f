"""Query the store with SQL.

Every table, collected or derived, is available by its name:

kgroups history sql "SELECT `group`, count(*) FROM rebalances GROUP BY 1"
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.options import output_options

from ..run.options import (
    engine_options,
    need_queries,
    query_clusters,
    query_engine_option,
    rule_option,
    since_option,
    until_option,
    untrusted_options,
)

command = Command(
    "sql",
    __doc__,
    body="kgroups.history.run.show:sql",
    check=need_queries,
    options=(
        click.argument("query"),
        query_clusters,
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
