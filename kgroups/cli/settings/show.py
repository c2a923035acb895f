"""``kgroups settings show``."""

from __future__ import annotations

from itertools import chain
from typing import Any

from kgroups.admin.client import Client, WireOnly, wire_of
from kgroups.admin.query.group_configs import describe_settings
from kgroups.model.outcome import Outcome
from kgroups.model.settings.setting import setting_rows
from kgroups.render.settings_views import SETTINGS as VIEW

from ..frame.options import ConnectionOptions, split_values
from ..frame.output import Shape
from ..frame.run_query import query_and_show
from ..frame.selected_groups import GroupOptions


def show_settings(
    connection: ConnectionOptions, shape: Shape, chosen: GroupOptions, keys: tuple[str, ...], overridden: bool
) -> int:
    """Run ``kgroups settings show``; return the exit code."""
    selection = chosen.selection()
    globs = split_values(keys)

    async def query(admin: Client) -> Outcome[Any]:
        found = await describe_settings(wire_of(admin, WireOnly.SETTINGS), selection)
        rows = tuple(chain.from_iterable(setting_rows(each, globs, overridden=overridden) for each in found.items))
        nothing = found.items and not rows and not found.failures
        text = "no values are set for the selected groups" if overridden else "no setting has one of these names"
        return found.with_items(rows).with_failures((), (text,) if nothing else ())

    return query_and_show(connection, shape, VIEW, query, selection=selection)
