"""Remove members from groups.

For members that hang, and for static members that will not return: their partitions are assigned to the other
members. A member that is alive rejoins. Requires Kafka 2.4.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import changed_group_and_topic_options
from ..frame.options import fleet_change_options, output_options
from ._change_options import confirmation_options

command = Command(
    "remove-members",
    __doc__,
    body="kgroups.cli.remove_members:remove_members",
    options=(
        changed_group_and_topic_options,
        click.option("--member", "members", multiple=True, metavar="ID", help="Member ID. Repeatable."),
        click.option(
            "--instance",
            "instances",
            multiple=True,
            metavar="ID",
            help="Static member, by its group.instance.id. Repeatable.",
        ),
        click.option("--all-members", is_flag=True, help="Select all members of the groups."),
        click.option(
            "--reason",
            metavar="TEXT",
            default="removed by kgroups",
            show_default=True,
            help="Reason, for the broker's log (since Kafka 3.2).",
        ),
        confirmation_options,
        output_options,
        fleet_change_options,
    ),
    examples=(
        ("Show which members would be removed", "kgroups remove-members orders --all-members"),
        ("Remove a static member", "kgroups remove-members orders --instance worker-3 --execute"),
    ),
    views=(Shown("kgroups.render.act_views:REMOVE_MEMBERS"),),
    page="delete.md",
)
