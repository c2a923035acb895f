"""Watch groups live: state, members, lag, and rates.

Shows the selected groups; by default all groups.

On a terminal, shows a screen with keys to scroll, sort, filter, and open groups; in a pipe, writes one line of
JSON per refresh. With several profiles, shows the groups of all their clusters.
Rates are records per second over the last few refreshes. A broker that does not respond is named, and its
groups are shown dimmed, as last reported, until it responds again.
"""

from __future__ import annotations

import click

from kgroups.cli.frame.command import Command
from kgroups.cli.frame.group_options import group_and_topic_options
from kgroups.cli.frame.options import Duration, isolation_option, position_options

command = Command(
    "watch",
    __doc__,
    body="kgroups.watch.run:watch",
    options=(
        group_and_topic_options,
        click.option("--interval", type=Duration(), default="2s", show_default=True, help="Refresh interval."),
        click.option("--count", type=click.IntRange(1), metavar="N", help="Stop after N refreshes."),
        click.option(
            "--by",
            type=click.Choice(["group", "cluster"]),
            default="group",
            show_default=True,
            help="Show one row for each group, or the totals of each of several clusters.",
        ),
        isolation_option,
        position_options,
    ),
    examples=(
        ("Watch all groups", "kgroups watch"),
        ("Watch groups of several clusters, every five seconds", "kgroups watch --profile 'eu-*' --interval 5s"),
        ("Write three refreshes as lines of JSON", "kgroups watch --count 3 | cat"),
    ),
    sections={"View": "--interval --count"},
    page="watch.md",
)
