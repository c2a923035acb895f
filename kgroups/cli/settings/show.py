"""``kgroups settings show``."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from ..frame.group_options import GroupOptions, group_options
from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, fleet_options, output_options, split_values
from ..frame.run_query import Shape, query_and_show

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome


@click.command("show", cls=Command)
@group_options
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEYS",
    help="Show only these settings: names or globs, comma-separated, such as 'consumer.*'. Repeatable.",
)
@click.option("--overridden", is_flag=True, help="Show only values that are set for a group.")
@output_options
@fleet_options
def show_settings(
    connection: ConnectionOptions, shape: Shape, chosen: GroupOptions, keys: tuple[str, ...], overridden: bool
) -> int:
    """Show the settings of groups, and where they come from.

    VALUE is in effect. ORIGIN is dynamic-group if it is set for the group, and otherwise what the group inherits:
    dynamic-broker, dynamic-default-broker, static-broker, or default. A group that is selected by name need not exist:
    Kafka stores settings for any name.
    """
    from kgroups.admin.port import WireOnly, wire_of
    from kgroups.admin.query.group_configs import describe_settings
    from kgroups.model.settings.setting import setting_rows
    from kgroups.render.settings_views import SETTINGS as VIEW

    selection = chosen.selection()
    globs = split_values(keys)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        found = await describe_settings(wire_of(admin, WireOnly.SETTINGS), selection)
        rows = tuple(chain.from_iterable(setting_rows(each, globs, overridden=overridden) for each in found.items))
        nothing = found.items and not rows and not found.failures
        text = "no values are set for the selected groups" if overridden else "no setting has one of these names"
        return found.with_items(rows).with_failures((), (text,) if nothing else ())

    return query_and_show(connection, shape, VIEW, query, selection=selection)
