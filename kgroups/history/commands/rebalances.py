"""Show rebalances.

Shows the members that joined, left, or restarted, and how long the rebalance or the pause in commits took.
"""

from __future__ import annotations

from kgroups.cli.frame.command import Command, Shown

from ..run.options import need_queries, window_options

command = Command(
    "rebalances",
    __doc__,
    body="kgroups.history.run.show:rebalances",
    check=need_queries,
    options=window_options,
    examples=(
        ("Show the rebalances of a day", "kgroups history rebalances --store history --since 1d"),
        ("Show those of one group", "kgroups history rebalances --store history --group orders"),
    ),
    views=(Shown("kgroups.history.run.schema:view_of_line"),),
)
