"""``kgroups explain --migration``: whether brokers convert groups to the consumer protocol, and back."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from kgroups.admin.client import Client, WireOnly, wire_of
from kgroups.admin.query.explain import member_facts
from kgroups.admin.query.group_configs import fetch_effective
from kgroups.admin.query.migration import migration_facts
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.records import read_group_logs
from kgroups.model.explain.migration import HEARTBEAT, SESSION, MigrationExplained, explain_migration
from kgroups.model.group_log import GroupLogs, LogQuery, ReadBudget, keys_of
from kgroups.model.migration import MigrationFacts, judge_migration
from kgroups.model.outcome import NO_MATCH, Outcome
from kgroups.render.migration import MigrationItem, write_json, write_migrations

from .explain_partitions import of_cluster
from .frame.options import ConnectionOptions
from .frame.output import or_write_error, print_failures
from .frame.run_query import query_items


def explain_migrations(
    connection: ConnectionOptions, output: str, fmt: str, selection: Selection, deep: tuple[int, float] | None
) -> int:
    """Show the verdicts; return the exit code: 1 also if one is unknown."""
    explained, cluster_id, clusters = query_items(
        connection,
        partial(or_write_error, output, lambda empty: write_json(empty, sys.stdout, None)),
        partial(_query, selection=selection, deep=deep),
        selection,
        partial(_item, connection),
    )
    if fmt == "json":
        write_json(explained, sys.stdout, cluster_id, clusters)
    else:
        write_migrations(explained.items, sys.stdout, fmt)
    sys.stdout.flush()
    print_failures(explained)
    return explained.exit_code or int(any(each.explained.migration.is_unknown for each in explained.items))


def _item(connection: ConnectionOptions, cluster: str | None, found: MigrationExplained) -> MigrationItem:
    """Return the answer with commands for its cluster."""
    notes = tuple(note._replace(fix=of_cluster(connection, cluster, note.fix)) for note in found.notes)
    return MigrationItem(found._replace(notes=notes), cluster)


async def _query(admin: Client, *, selection: Selection, deep: tuple[int, float] | None) -> Outcome[Any]:
    cluster = wire_of(admin, WireOnly.MIGRATION)
    groups = await admin.describe(selection)
    outcome: Outcome[MigrationFacts] = await migration_facts(cluster, groups)
    if not outcome.items:
        return outcome if outcome.failures else outcome.with_failures((), [NO_MATCH])
    members, failures = await member_facts(cluster, groups.items)
    settings = await fetch_effective(cluster, groups.items, (SESSION, HEARTBEAT))
    logs = GroupLogs({}, ())
    if deep is not None:
        mib, seconds = deep
        keys = {group.group: keys_of(group, LogQuery.MEMBERS) for group in groups.items}
        logs = await read_group_logs(admin, keys, ReadBudget(mib << 20, seconds))
    explained = [
        explain_migration(
            facts,
            judge_migration(facts),
            about,
            (settings[facts.group.group][SESSION], settings[facts.group.group][HEARTBEAT]),
            logs.logs.get(facts.group.group),
        )
        for facts, about in zip(outcome.items, members, strict=True)
    ]
    return outcome.with_items(explained).with_failures(failures, logs.notices)
