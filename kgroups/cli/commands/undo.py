"""Undo a change, from its undo file.

Restores the old offsets, of deleted groups too, or the old settings: the same as reset-offsets --from-file FILE, or
settings set --from-file FILE. Shows the plan; --execute applies it. What was there before is first saved to a new undo
file. - is standard input. --partial, --force, --commit-window, and --when-empty are for offsets.
"""

from __future__ import annotations

from pathlib import Path

import click

from ..frame.command import Command, Shown
from ..frame.options import deferred_connection_options, output_options
from ._change_options import confirmation_options, safety_options, undo_option

command = Command(
    "undo",
    __doc__,
    body="kgroups.cli.undo:undo",
    options=(
        click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False)),
        click.option(
            "--accept-mismatch",
            "accepted",
            multiple=True,
            type=click.Choice(["cluster", "topic", "offset", "setting"]),
            help="Apply the file even if it belongs to another cluster, if a topic was recreated, or if an offset or a "
            "setting has changed since. Repeatable.",
        ),
        click.option(
            "--partial",
            is_flag=True,
            help="If some offsets of a group have changed since, or cannot be restored for another reason, restore the "
            "others. Otherwise, nothing of the group is restored.",
        ),
        safety_options,
        confirmation_options,
        undo_option,
        output_options,
        deferred_connection_options,
    ),
    examples=(
        ("Show what would be restored", "kgroups undo kgroups-undo-orders-20260131T120000Z.json"),
        ("Restore it", "kgroups undo kgroups-undo-orders-20260131T120000Z.json --execute"),
    ),
    views=(Shown("kgroups.render.act_views:RESET_OFFSETS"),),
    page="reset-and-undo.md",
)
