"""Delete groups without members, with their committed offsets.

Shows the plan; --execute deletes the groups. The visible offsets are first saved to an undo file, from which
kgroups undo restores them. Internal topics of streams groups are kept unless they are selected.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import changed_group_and_topic_options
from ..frame.options import Duration, fleet_change_options, output_options
from ._change_options import all_internal_topics_option, confirmation_options, safety_options, undo_option

command = Command(
    "delete",
    __doc__,
    body="kgroups.cli.delete:delete",
    options=(
        changed_group_and_topic_options,
        click.option(
            "--empty-for",
            type=Duration(),
            metavar="DURATION",
            help="Not supported: Kafka does not report how long a group has been empty; use kgroups history stale.",
        ),
        all_internal_topics_option,
        click.option(
            "--including-hidden-offsets",
            "including_hidden",
            is_flag=True,
            help="Also delete groups with committed offsets that may be hidden: offsets on topics without permission "
            "DESCRIBE are deleted, too, and are not in the undo file.",
        ),
        safety_options,
        confirmation_options,
        undo_option,
        output_options,
        fleet_change_options,
    ),
    examples=(
        ("Show what would be deleted", "kgroups delete --regex 'test-.*'"),
        ("Delete a group in a script", "kgroups delete orders-old --execute --yes"),
        ("Delete a group on several clusters", "kgroups delete orders-old --profile 'eu-*' --fleet --execute"),
    ),
    views=(Shown("kgroups.render.act_views:DELETE"),),
    page="delete.md",
)
