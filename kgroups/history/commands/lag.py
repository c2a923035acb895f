"""Show lag at each sample of the log end offsets."""

from __future__ import annotations

from kgroups.cli.frame.command import Command, Shown

from ..run.options import need_queries, window_options

command = Command(
    "lag",
    __doc__,
    body="kgroups.history.run.show:lag",
    check=need_queries,
    options=window_options,
    examples=(
        ("Show the lag of a group over time", "kgroups history lag --store history --group orders"),
        ("Show the lag of the last two hours", "kgroups history lag --store history --since 2h"),
    ),
    views=(Shown("kgroups.history.run.schema:view_of_line"),),
)
