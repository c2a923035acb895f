"""``kgroups list``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kgroups.admin.query.list_groups import ListFilter
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.groups import GroupType, ListedGroup
from kgroups.model.outcome import NO_MATCH, Outcome
from kgroups.model.views.list_row import list_row
from kgroups.render.list_view import LIST
from kgroups.render.views import View

from .frame.options import ConnectionOptions, split_values
from .frame.output import Shape
from .frame.run_query import query_and_show
from .frame.selected_groups import GroupOptions, known_states, known_words

if TYPE_CHECKING:
    from kgroups.admin.client import Client

_SHOW = "\x00"
"""The value of --state and --type given alone: show the column, filter nothing."""


def list_groups(
    connection: ConnectionOptions,
    shape: Shape,
    chosen: GroupOptions,
    by: str,
    states: tuple[str, ...],
    types: tuple[str, ...],
    protocol_types: tuple[str, ...],
    migration: bool,
) -> int:
    """Run ``kgroups list``; return the exit code."""
    counted = by == "cluster"
    if migration and counted:
        raise UsageError("--migration cannot be combined with --by cluster")
    view, rows_of = _by_cluster() if counted else (_migration_view() if migration else LIST, _listed)
    everything = (counted or shape.format == "table") and not migration
    with_types, with_states = everything or _SHOW in types, everything or _SHOW in states
    if not (counted or migration):
        shape = shape._replace(extra=(*(("type",) if with_types else ()), *(("state",) if with_states else ())))
    group_filter = ListFilter(
        states=known_states(_values(states)),
        types=known_words("type", _values(types), GroupType.SHOWN),
        protocol_types=split_values(protocol_types),
        with_states=bool(states) or with_states or shape.needs(view, "state"),
        with_types=bool(types) or with_types or shape.needs(view, "type"),
    )

    selection: Selection | None = None
    if chosen.any_given or group_filter.restricts:
        chosen = chosen._replace(in_states=group_filter.states, of_types=group_filter.types)
        if chosen.names and group_filter.protocol_types:
            raise UsageError("--protocol-type cannot be combined with group names")
        selection = chosen.selection(all_by_default=True)
        selection = selection._replace(among=group_filter._replace(coordinators=selection.among.coordinators))

    if migration:
        return _list_migration(connection, shape, view, selection or Selection(everything=True, among=group_filter))

    async def query(admin: Client) -> Outcome[Any]:
        outcome = await admin.list_selected(selection or Selection(among=group_filter))
        if selection and not (outcome.items or outcome.failures):
            outcome = outcome.with_failures((), [NO_MATCH])
        return outcome.with_items(rows_of(admin.cluster_id, outcome))

    return query_and_show(connection, shape, view, query, selection=selection)


Rows = Callable[[str | None, Outcome[ListedGroup]], Iterable[Any]]


def _listed(_: str | None, outcome: Outcome[ListedGroup]) -> Iterable[Any]:
    return map(list_row, outcome.items)


def _by_cluster() -> tuple[View, Rows]:
    from kgroups.model.views.cluster_groups import cluster_groups_row
    from kgroups.render.list_by_cluster import LIST_BY_CLUSTER

    return LIST_BY_CLUSTER, lambda cluster_id, outcome: [cluster_groups_row(cluster_id, outcome)]


def _migration_view() -> View:
    from kgroups.render.migration_view import MIGRATION

    return MIGRATION


def _list_migration(connection: ConnectionOptions, shape: Shape, view: View, selection: Selection) -> int:
    from kgroups.admin.client import WireOnly, wire_of
    from kgroups.admin.query.migration import migration_facts
    from kgroups.model.migration import judge_migration
    from kgroups.model.views.migration_row import migration_row

    if not connection.fleet:
        WireOnly.MIGRATION.check(connection.settings)

    async def query(admin: Client) -> Outcome[Any]:
        outcome = await migration_facts(wire_of(admin, WireOnly.MIGRATION), await admin.describe(selection))
        if not (outcome.items or outcome.failures):
            outcome = outcome.with_failures((), [NO_MATCH])
        if settings := {name for facts in outcome.items for names in facts.others.values() for name in names}:
            moves = "each verdict follows the coordinator of the group, and can change when that moves"
            outcome = outcome.with_failures((), [f"brokers differ in {', '.join(sorted(settings))}: {moves}"])
        return outcome.with_items(migration_row(facts, judge_migration(facts)) for facts in outcome.items)

    return query_and_show(connection, shape, view, query, selection=selection)


def _values(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value != _SHOW)
