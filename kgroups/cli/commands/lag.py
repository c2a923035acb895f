"""Show the lag of groups, in records and in time.

Shows the selected groups; by default all groups.

STATUS, shown on a terminal and with --columns, says what one sample proves, worst first: data lost, deleted topic,
recreated topic, beyond log end, no leader, not ready, not assigned, no member, rebalancing, unknown, lagging (records
are unread; whether the group makes progress is unknown), or ok.

TOTAL-LAG is - if the lag of a partition is unknown: its log cannot be read, or the group has members and no
committed offset on it. NOTE and KNOWN-LAG then show the lag of the other partitions.

BEHIND counts partitions with a lag above 0. UNCOMMITTED counts partitions without a committed offset that are
assigned to a member, or whose topic the group reads. These columns appear if they have values: UNKNOWN counts
partitions whose log end offset is unknown, AHEAD counts commits beyond the log end (their negative lag is included
in the total), DATA-LOST counts partitions of which records were deleted before they were read.

With --time, 0 means that there are no unread records, and - that the time lag of a partition is unknown; NOTE has
the reason.

With --exact, UNREAD counts the records that a consumer would receive; if there are too many to read, it is a lower
bound, and UNREAD-MAX an upper bound.

With --headroom, retention deletes the first unread record after HEADROOM at the earliest, and after HEADROOM-MAX at
the latest. HEADROOM-BY names the setting that limits it, or why there is no limit.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import group_and_topic_options
from ..frame.options import isolation_option, output_options, position_options

command = Command(
    "lag",
    __doc__,
    body="kgroups.cli.lag:lag",
    options=(
        group_and_topic_options,
        click.option(
            "--by",
            type=click.Choice(["group", "topic", "partition", "member", "cluster"]),
            default="group",
            show_default=True,
            help=(
                "Show one row for each group, for each topic, partition, or member of each group, or for the whole "
                "cluster."
            ),
        ),
        click.option("--only-lagging", is_flag=True, help="Only rows with at least one lagging partition."),
        click.option(
            "--min",
            "--min-lag",
            "min_lag",
            type=click.IntRange(0),
            metavar="N",
            help="Only rows with a known lag of at least N.",
        ),
        click.option(
            "--top",
            type=click.IntRange(1),
            metavar="N",
            help="Only the N rows with the largest known lag, largest first; with --sort, the first N in that order.",
        ),
        click.option(
            "--time",
            "with_time",
            is_flag=True,
            help="Add the time lag: the age of the first unread record. Reads records.",
        ),
        click.option(
            "--headroom",
            "with_headroom",
            is_flag=True,
            help="Add the time lag, and the time until retention deletes the first unread record. Reads records.",
        ),
        click.option(
            "--exact",
            is_flag=True,
            help=(
                "Add the time lag and the number of unread records, without transaction markers and gaps. Reads "
                "records."
            ),
        ),
        isolation_option,
        output_options,
        position_options,
    ),
    examples=(
        (("Show the ten groups with the largest lag"), ("kgroups lag --all-groups --top 10")),
        (
            ("Show how old the first unread records of a group are, and when they will be deleted"),
            ("kgroups lag orders --by partition --headroom"),
        ),
        ("Show lagging topics, sorted by lag", "kgroups lag --all-groups --by topic --only-lagging --sort=-lag,group"),
    ),
    sections={"View": "--exact"},
    views=(
        Shown("kgroups.render.lag_views:GROUP_LAG", "--by group"),
        Shown("kgroups.render.lag_views:TOPIC_LAG", "--by topic"),
        Shown("kgroups.render.lag_views:PARTITION_LAG", "--by partition"),
        Shown("kgroups.render.lag_views:MEMBER_LAG", "--by member"),
        Shown("kgroups.render.lag_views:CLUSTER_LAG", "--by cluster", in_help=False),
    ),
    page="lag.md",
)
