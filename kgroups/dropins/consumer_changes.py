"""The changes of ``kafka-consumer-groups``."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from kgroups.admin.change.apply.delete_groups import delete_groups
from kgroups.admin.change.apply.delete_now import delete_offsets_now
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.list_groups import CONSUMERS
from kgroups.admin.query.select_groups import Selection, list_selected
from kgroups.admin.wire import WireClient
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.net.cluster import Cluster

from . import changes
from .joptsimple import ParsedOptions
from .reset_options import reject_duplicates, scenario_of
from .run import change_and_write
from .sentences import escape_for
from .text.operations import deleted_text, plan_text, undeleted_text
from .topics import topics_of
from .views import TOOLS

_GROUPS = TOOLS["consumer"]


def reset(parsed: ParsedOptions) -> int:
    """Plan a reset, and with ``--execute`` apply it; print the new offsets in either case."""
    selection = _GROUPS.selection(parsed)
    scenario = scenario_of(parsed)
    scope = None if parsed.any_of("all-topics", "from-file") else topics_of(parsed.all("topic"))
    request = ResetRequest(selection, scenario, scope, create=True, announce=False)

    async def query(cluster: Cluster) -> Outcome[Any]:
        others = await _other_types(cluster, selection)
        kept = tuple(name for name in selection.names if name not in {failure.name for failure in others})
        if others and not kept:
            return Outcome(failures=others)
        planned = await plan_reset(cluster, request._replace(selection=selection._replace(names=kept)))
        if scope is not None:
            reject_duplicates(parsed.all("topic"), scenario, planned.items)
        planned = planned.with_failures(others)
        return (await changes.apply(cluster, planned)).written if "execute" in parsed else planned

    def write(outcome: Outcome[Any]) -> None:
        rejected = {failure.name for failure in outcome.failures if failure.scope is Scope.GROUP}
        table = plan_text(outcome.items, {*selection.names, *rejected}, show=escape_for(sys.stdout))
        changes.write_plan(parsed, outcome.items, table)
        changes.print_groups_without_plan(scenario, selection.names)

    failed = bool(changes.groups_without_plan(scenario, selection.names))
    return change_and_write(parsed, query, write, failed=lambda _: failed)


async def _other_types(cluster: Cluster, selection: Selection) -> tuple[Failure, ...]:
    """Return failures for the named groups that are not consumer groups; a group that does not exist is created."""
    if not selection.names:
        return ()
    described = await WireClient(cluster).describe(selection)
    return tuple(rejected for group in described.items if (rejected := _GROUPS.rejection(group)))


def delete(parsed: ParsedOptions) -> int:
    selection = _GROUPS.selection(parsed)

    async def query(cluster: Cluster) -> Outcome[Any]:
        names = selection.names
        listed: Outcome[Any] = Outcome()
        if "all-groups" in parsed:
            listed = await list_selected(cluster, Selection(among=CONSUMERS))
            names = tuple(group.group for group in listed.items)
        deleted = await delete_groups(cluster, names)
        return Outcome(deleted.items, listed.failures, (*listed.notices, *deleted.notices))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(undeleted_text(outcome.items, escape_for(sys.stdout)))
        sys.stdout.writelines(deleted_text(outcome.items, escape_for(sys.stdout)))

    return change_and_write(parsed, query, write, failed=changes.has_failed_items)


def delete_offsets(parsed: ParsedOptions) -> int:
    group = changes.one_group(parsed)
    topics = topics_of(parsed.all("topic"))

    async def query(cluster: Cluster) -> Outcome[Any]:
        return await delete_offsets_now(cluster, group, topics)

    write = partial(changes.write_deleted_offsets, group)
    return change_and_write(parsed, query, write, failed=changes.has_failed_items)
