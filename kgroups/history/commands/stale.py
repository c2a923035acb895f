"""Show groups by the time of their last activity."""

from __future__ import annotations

from kgroups.cli.frame.command import Command, Shown

from ..run.options import need_queries, rule_option, window_options

command = Command(
    "stale",
    __doc__,
    body="kgroups.history.run.show:stale",
    check=need_queries,
    options=(
        rule_option,
        *window_options,
    ),
    examples=(
        ("Show groups by their last activity", "kgroups history stale --store history"),
        ("Show the first ten", "kgroups history stale --store history --limit 10"),
    ),
    views=(Shown("kgroups.history.run.schema:view_of_line"),),
)
