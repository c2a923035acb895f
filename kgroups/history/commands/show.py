"""Show a table of the store.

Collected: records, commits, group_metadata, members, assignments, epochs, undecoded, heads, coverage, baseline,
sweeps, share_states, share_coverage.
Derived: latest_offsets, commit_rate, rebalances, group_states, memberships, lag, verdicts, stale, expiring,
anomalies, completeness.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command, Shown
from kgroups.cli.frame.options import completer

from ..run.options import need_queries, rule_option, window_options

command = Command(
    "show",
    __doc__,
    body="kgroups.history.run.show:show",
    check=need_queries,
    options=(
        click.argument("table", shell_complete=completer("kgroups.history.run.schema:complete_shown_table")),
        rule_option,
        *window_options,
    ),
    examples=(
        ("Show the commits of the last hour", "kgroups history show commits --store history --since 1h"),
        ("Show those of one group, as CSV", "kgroups history show commits --store history --group orders -o csv"),
    ),
    views=(Shown("kgroups.history.run.schema:view_of_line"),),
)
