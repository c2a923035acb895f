"""Reset the committed offsets of groups without members.

Shows the plan; --execute applies it. The old offsets are first saved to an undo file, from which --from-file
restores them. Groups with members are rejected, and the others are reset. For streams groups, the input topics
are reset.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import group_options
from ..frame.options import fleet_change_options, output_options
from ._change_options import (
    all_internal_topics_option,
    confirmation_options,
    internal_topic_option,
    safety_options,
    target_options,
    undo_option,
)

command = Command(
    "reset-offsets",
    __doc__,
    body="kgroups.cli.reset_offsets:reset_offsets",
    options=(
        group_options,
        target_options,
        click.option(
            "--isolation",
            type=click.Choice(["read_uncommitted", "read_committed"]),
            help="With --skip-records: the isolation of the consumers; with read_committed, records of aborted "
            "transactions do not count.  [default: read_uncommitted]",
        ),
        click.option(
            "--create-group", is_flag=True, help="Create named groups that do not exist. Undo files do not need it."
        ),
        internal_topic_option,
        all_internal_topics_option,
        safety_options,
        confirmation_options,
        undo_option,
        click.option(
            "--accept-mismatch",
            "accepted",
            multiple=True,
            type=click.Choice(["cluster", "topic", "offset"]),
            help="With --from-file: apply the file even if it belongs to another cluster (cluster), if a topic was "
            "recreated or an offset is beyond the log end (topic), or if an offset has changed since or was never "
            "written (offset). Repeatable.",
        ),
        click.option(
            "--partial",
            is_flag=True,
            help="With --from-file, of an undo file: as for kgroups undo.",
        ),
        click.option(
            "--export",
            is_flag=True,
            help="Print the plan for --from-file, in the CSV format of Kafka's tool; with -o json in JSON.",
        ),
        output_options,
        fleet_change_options,
    ),
    examples=(
        ("Show the plan of a reset, without changes", "kgroups reset-offsets orders --all-topics --to-earliest"),
        ("Reset to one hour ago", "kgroups reset-offsets orders --topic clicks --to-datetime -1h --execute"),
        ("Undo a reset", "kgroups undo undo.json --execute"),
    ),
    sections={"Change": "--isolation"},
    views=(Shown("kgroups.render.act_views:RESET_OFFSETS"),),
    page="reset-and-undo.md",
)
