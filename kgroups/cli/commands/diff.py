"""Compare the groups of two clusters or snapshots.

A and B are profiles, or files of kgroups snapshot save; without B, A is compared with a cluster as it is now: that of
the connection options, or of the default profile. Compares groups, types, states, members, dynamic configuration,
offsets, and lag; by default of all groups. Exits with 0 if they are equal, and with 1 if anything differs or is
unknown.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import plain_group_options
from ..frame.options import only_option, output_options, side_options

command = Command(
    "diff",
    __doc__,
    body="kgroups.cli.diff:diff",
    options=(
        click.argument("a"),
        click.argument("b", required=False),
        plain_group_options,
        only_option,
        output_options,
        side_options,
    ),
    examples=(
        ("Compare a snapshot with the cluster as it is now", "kgroups diff monday.snapshot -b kafka-1:9092"),
        ("Compare the groups of two clusters, by their profiles", "kgroups diff east west"),
        (
            "Compare the offsets of some groups with a snapshot",
            "kgroups diff east east.snapshot 'orders-*' --only offsets",
        ),
    ),
    sections={"View": "--only"},
    exits=(
        ("0", "A and B are equal."),
        ("1", "Something differs or is unknown."),
        ("2", "Invalid usage or configuration."),
        ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
        ("141", "The reader of the pipe has exited."),
    ),
    views=(Shown("kgroups.render.snapshot_views:DIFF"),),
    page="snapshots.md",
)
