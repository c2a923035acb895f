"""``kgroups settings unset``."""

from __future__ import annotations

from pathlib import Path

import click

from kgroups.errors import UsageError

from ..change.change_settings import change_settings, undo_option
from ..change.confirmation import Confirmation, confirmation_options
from ..frame.group_options import GroupOptions, group_options
from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, fleet_change_options, output_options, split_values
from ..frame.run_query import Shape


@click.command("unset", cls=Command)
@click.argument("keys", metavar="KEY[,KEY]...")
@group_options
@confirmation_options
@undo_option
@output_options
@fleet_change_options
def unset(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    chosen: GroupOptions,
    keys: str,
) -> int:
    """Remove values that are set for groups.

    The groups then inherit their values from the broker; NEW-VALUE is the value that will be in effect. KEY is a name
    or a glob: 'share.*' removes all values of these settings, and '*' all values. Shows the plan; --execute applies it.
    The old settings are first saved to an undo file, from which settings set --from-file restores them.
    """
    from kgroups.model.settings.change import UnsetAll

    names = split_values((keys,))
    if not names:
        raise UsageError("no settings: use KEY[,KEY]... before the groups")
    return change_settings(connection, shape, confirmation, undo_file, chosen.selection(), UnsetAll(names))
