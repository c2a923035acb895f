"""Describe groups: offsets and lag, members, or state.

On a terminal, each group has a header with state, type, members, assignor, coordinator, and total lag. Columns that
do not fit are omitted, and named on stderr; --wide and --columns show them.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import described_group_options
from ..frame.options import deep_options, isolation_option, output_options, position_options

command = Command(
    "describe",
    __doc__,
    body="kgroups.cli.describe:describe",
    options=(
        described_group_options,
        click.option(
            ("--offsets"), is_flag=True, help="Show committed offsets, log end offsets, and lag.  [default view]"
        ),
        click.option("--members", is_flag=True, help="Show members and their assignments."),
        click.option("--state", is_flag=True, help="Show coordinator, assignor, state, and number of members."),
        click.option(
            ("--topology"), is_flag=True, help="Show the subtopologies of streams groups, with topics and tasks."
        ),
        click.option("--summary", is_flag=True, help="Show one line for each group: state, type, members, total lag."),
        click.option(
            ("--all-views"), is_flag=True, help="Show state, members, and offsets, from one sweep of the cluster."
        ),
        click.option("-v", "--verbose", is_flag=True, help="Show more columns: epochs, assignments, subscriptions."),
        deep_options,
        isolation_option,
        output_options,
        position_options,
    ),
    examples=(
        (("Show the offsets and the lag of two groups"), ("kgroups describe orders payments")),
        (("Show the members of groups by a pattern"), ("kgroups describe --regex 'orders-.*' --members")),
        ("Show the offsets of all groups on a topic, as CSV", "kgroups describe --topic clicks -o csv"),
    ),
    sections={"View": "--state"},
    views=(
        Shown(("kgroups.render.offset_view:OFFSETS"), ("--offsets")),
        Shown(("kgroups.render.deep_views:DEEP_MEMBERS"), ("--deep --members"), in_help=False),
        Shown(("kgroups.render.deep_views:DEEP_STATE"), ("--deep --state"), in_help=False),
        Shown(("kgroups.render.deep_views:DEEP_OFFSETS"), ("--deep"), in_help=False),
        Shown(("kgroups.render.member_views:MEMBERS"), ("--members")),
        Shown(("kgroups.render.member_views:STATE"), ("--state")),
        Shown(("kgroups.render.topology_views:TOPOLOGY"), ("--topology")),
        Shown(("kgroups.render.summary_view:SUMMARY"), "--summary"),
        Shown("kgroups.render.summary_view:ALL_VIEWS", "--all-views"),
    ),
    page="list-and-describe.md",
)
