"""``kgroups list``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError

from .frame.group_options import GroupOptions, known_words, listed_group_options
from .frame.lazy_command import Command
from .frame.options import ConnectionOptions, completer, fleet_options, output_options, split_values
from .frame.run_query import Shape, query_and_show

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View

_SHOW = "\x00"
"""The value of --state and --type given alone: show the column, filter nothing."""


@click.command("list", cls=Command)
@listed_group_options
@click.option(
    "--state",
    "states",
    multiple=True,
    is_flag=False,
    flag_value=_SHOW,
    metavar="[STATES]",
    help="Only groups in these states (comma-separated, any case). Without values: add the column STATE.",
    shell_complete=completer("states"),
)
@click.option(
    "--type",
    "types",
    multiple=True,
    is_flag=False,
    flag_value=_SHOW,
    metavar="[TYPES]",
    help="Only groups of these types: classic, consumer, share, streams. Without values: add the column TYPE.",
    shell_complete=completer("types"),
)
@click.option(
    "--protocol-type",
    "protocol_types",
    multiple=True,
    metavar="TYPES",
    help="Only groups with these protocol types, such as consumer or connect.  [default: all]",
)
@click.option(
    "--by",
    type=click.Choice(["group", "cluster"]),
    default="group",
    show_default=True,
    help="Show one row for each group, or for the whole cluster: the number of groups by state and type.",
)
@output_options
@fleet_options
def list_groups(
    connection: ConnectionOptions,
    shape: Shape,
    chosen: GroupOptions,
    by: str,
    states: tuple[str, ...],
    types: tuple[str, ...],
    protocol_types: tuple[str, ...],
) -> int:
    """List the groups of a cluster, of every type.

    On a terminal, the list shows TYPE and STATE; in a pipe it has one bare name per line, also with a filter.

    With --by cluster, #GROUPS is - if the list may be partial; LISTED counts the groups in it. Counts by state or type
    are - if brokers are too old to report those of some groups.
    """
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.groups import GroupState, GroupType
    from kgroups.model.outcome import NO_MATCH
    from kgroups.model.views.list_row import list_row

    counted = by == "cluster"
    everything = counted or shape.format == "table"
    with_types, with_states = everything or _SHOW in types, everything or _SHOW in states
    if not counted:
        shape = shape._replace(extra=(*(("type",) if with_types else ()), *(("state",) if with_states else ())))
    group_filter = ListFilter(
        states=known_words("state", _values(states), GroupState.ALL),
        types=known_words("type", _values(types), GroupType.ALL),
        protocol_types=split_values(protocol_types),
        with_states=bool(states) or with_states or shape.needs(_view(by), "state"),
        with_types=bool(types) or with_types or shape.needs(_view(by), "type"),
    )

    selection: Selection | None = None
    if chosen.any_given or group_filter.restricts:
        chosen = chosen._replace(in_states=group_filter.states, of_types=group_filter.types)
        if chosen.names and group_filter.protocol_types:
            raise UsageError("--protocol-type cannot be combined with group names")
        selection = chosen.selection(all_by_default=True)._replace(among=group_filter)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        outcome = await admin.list_selected(selection or Selection(among=group_filter))
        if selection and not (outcome.items or outcome.failures):
            outcome = outcome.with_failures((), [NO_MATCH])
        if not counted:
            return outcome.with_items(map(list_row, outcome.items))
        from kgroups.model.views.cluster_groups import cluster_groups_row

        return outcome.with_items((cluster_groups_row(admin.cluster_id, outcome),))

    return query_and_show(connection, shape, _view(by), query, selection=selection)


def _view(by: str) -> View:
    if by == "cluster":
        from kgroups.render.list_by_cluster import LIST_BY_CLUSTER

        return LIST_BY_CLUSTER
    from kgroups.render.list_view import LIST

    return LIST


def _values(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value != _SHOW)
