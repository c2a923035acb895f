"""Explain the state and the problems of groups.

Begins with one line: the status of the group, its lag, the worst partition and why, and what to do next.

Then shows, in sentences and a table of members: the worst verdicts about partitions, members without partitions,
partitions that are unassigned or assigned twice, differences between members, and the protocol; with -v also the
coordinator, and the size of a rebalance against the broker's limits.

--what-if runs Kafka's assignors locally on the group as it is; no member is affected. A new member has the most
common subscription and the highest member ID; if members=N removes members, those with the highest IDs
leave. member=-ID takes an instance ID or the start of a member ID. Rack-aware assignment is not simulated.

--partition and --lagging show one verdict for each partition instead: why it is not consumed, such as an open
transaction, no member, or a record that the consumer does not get past, with the evidence and the next command.

--migration shows instead whether brokers would convert the group from the classic to the consumer protocol (KIP-848)
while it has members, and back: each rule that blocks it, the members that cause it, and the fix. Nothing is changed.
"""

from __future__ import annotations

import click

from ..frame.command import Command, OptionGroup
from ..frame.group_options import group_and_used_topic_options
from ..frame.options import Duration, deep_options, fleet_options

_PARTITIONS = (
    click.option(
        "--partition",
        "partitions",
        multiple=True,
        metavar="TOPIC[:PARTITIONS]",
        help="Show a verdict for each of these partitions, such as orders:3, orders:0,2-5, or orders for all of them. "
        "Repeatable.",
    ),
    click.option(
        "--lagging", is_flag=True, help="Show a verdict for each partition that lags, by default of all groups."
    ),
    click.option(
        "--show-record", is_flag=True, help="Show the start of the key and of the value of the first unread record."
    ),
    click.option(
        "--stuck-after",
        type=Duration(),
        default="30s",
        show_default=True,
        metavar="DURATION",
        help="A partition is stuck if a record is unread without progress for longer than this.",
    ),
)

_STYLE = (
    click.option(
        "-o",
        "--output",
        type=click.Choice(["auto", "table", "plain", "json"]),
        default="auto",
        show_default=True,
        help="Text with tables, or JSON.  auto: table on a terminal, plain in a pipe.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Show more columns: clients, assignments, subscriptions."),
    click.option("--no-headers", is_flag=True, help="Omit the header row of tables."),
)

command = Command(
    "explain",
    __doc__,
    body="kgroups.cli.explain:explain",
    options=(
        group_and_used_topic_options,
        click.option(
            "--what-if",
            "what_if",
            multiple=True,
            metavar="CHANGE",
            help="Compute which partitions would move: members=+1, members=-1, members=5, member=-ID, assignor=NAME, "
            "partitions=TOPIC:+3. Repeatable: each change is applied after the one before it.",
        ),
        OptionGroup("partitions", _PARTITIONS, "kgroups.cli.explain_partitions:PartitionOptions"),
        click.option(
            "--migration",
            is_flag=True,
            help="Show whether brokers would convert the group to the consumer protocol (KIP-848), and back; what "
            "blocks it, and what changes.",
        ),
        deep_options,
        OptionGroup("style", _STYLE, "kgroups.cli.explain:Style"),
        fleet_options,
    ),
    examples=(
        ("Show what is wrong in the cluster, and why", "kgroups explain --lagging"),
        ("Explain whether a group can move to the consumer protocol", "kgroups explain orders --migration"),
        ("Explain why a partition is not consumed", "kgroups explain orders --partition clicks:3"),
    ),
    sections={"Selection": "--partition --lagging", "View": "--show-record --stuck-after --migration"},
    page="explain.md",
)
