"""Delete committed offsets of topics.

The group may have members if none of them is subscribed to the topics. Requires Kafka 2.4. The old offsets are
first saved to an undo file, from which kgroups undo restores them.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import complete_topic, group_options
from ..frame.options import fleet_change_options, output_options
from ._change_options import confirmation_options, safety_options, undo_option

command = Command(
    "delete-offsets",
    __doc__,
    body="kgroups.cli.delete_offsets:delete_offsets",
    options=(
        group_options,
        click.option(
            "--topic",
            "topics",
            multiple=True,
            metavar="TOPIC[:0,2-5]",
            help="Topic whose committed offsets are deleted, or some of its partitions. Repeatable.",
            shell_complete=complete_topic,
        ),
        safety_options,
        confirmation_options,
        undo_option,
        output_options,
        fleet_change_options,
    ),
    examples=(
        ("Show which committed offsets would be deleted", "kgroups delete-offsets orders --topic clicks"),
        ("Delete those of two partitions", "kgroups delete-offsets orders --topic clicks:0,1 --execute"),
    ),
    views=(Shown("kgroups.render.act_views:DELETE_OFFSETS"),),
    page="delete.md",
)
