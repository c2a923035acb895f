"""Move the offsets of groups to another cluster.

For each committed offset on the cluster of --from, finds the offset on the cluster of --to at which the group
continues: no unread record is skipped, and READ-AGAIN is how many read ones it may receive again. METHOD is what proves
it. What nothing proves is impossible, and NOTE says why. Shows the plan; --execute writes it, after the checks of
reset-offsets, and saves the old offsets to an undo file. A group that went on there is left alone. --when-empty waits
for the members on both clusters.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import group_options
from ..frame.options import Duration, output_options, pair_options
from ._change_options import confirmation_options, safety_options, undo_option
from ._matching_options import matching_options

command = Command(
    "translate",
    __doc__,
    body="kgroups.cli.translate:translate",
    options=(
        group_options,
        pair_options,
        matching_options,
        click.option(
            "--partial",
            is_flag=True,
            help="Also write the offsets of groups of which some are impossible. On the other partitions, "
            "auto.offset.reset decides where they begin.",
        ),
        click.option(
            "--including-hidden-offsets",
            "including_hidden",
            is_flag=True,
            help="Also write if ACLs may hide offsets on the cluster of --from, on topics without permission DESCRIBE. "
            "On these topics, auto.offset.reset decides.",
        ),
        click.option(
            "--overwrite",
            is_flag=True,
            help="Also replace lower offsets on the cluster of --to that translate did not write: those of a consumer "
            "that ran there, or of another tool.",
        ),
        click.option(
            "--skip-others",
            is_flag=True,
            help="Also write offsets after records that other producers wrote into the copy: the group skips them. "
            "OTHERS is their number.",
        ),
        click.option(
            "--follow",
            type=Duration(),
            metavar="INTERVAL",
            help="With --execute --yes: translate again at this interval, until Ctrl-C, or until all groups have "
            "members on the cluster of --to, or went on there.",
        ),
        safety_options,
        confirmation_options,
        undo_option,
        output_options,
    ),
    examples=(
        ("Show where a group continues on another cluster", "kgroups translate orders --from east --to west"),
        (
            "Write the offsets of all groups, of topics that MirrorMaker 2 renamed",
            "kgroups translate --all-groups --from east --to west --topic-map '*=east.*' --execute",
        ),
        (
            "Keep the offsets up to date until the cut-over",
            "kgroups translate orders --from east --to west --follow 30s --execute --yes",
        ),
    ),
    sections={"Change": "--including-hidden-offsets --overwrite --skip-others --follow"},
    views=(Shown("kgroups.render.translation_views:TRANSLATE"),),
    page="move-groups.md",
)
