"""Delete groups with their committed offsets: DeleteGroups, many groups per request to each coordinator.

Over the wire, because librdkafka sends one request per group.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from kgroups.model.groups import Group, GroupId
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.results import DeletedGroup, GroupDeletion
from kgroups.model.outcome import NO_MATCH, NOT_FOUND, Outcome, Result
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import delete_groups as api

from ..query.select_groups import Selection
from ..routing.partition_leaders import TopicPartition
from ..routing.query_coordinators import GroupQuery, query_coordinators
from ..routing.witness import Witness
from .lookups import Lookups, without_members

GONE = "unknown whether kgroups deleted it: the first response was lost, and on retry the group did not exist"
DeleteJournal = Journal[GroupId, DeletedGroup]

_DELETE: GroupQuery[Any] = GroupQuery("groups deleted", api.API, api.DeleteGroups, changes=True)


async def plan_delete(lookups: Lookups, selection: Selection) -> Outcome[GroupDeletion]:
    """Return the selected groups without members, sorted; those with members, or that do not exist, are failures."""
    groups, committed = await lookups.groups(selection._replace(topics=frozenset()))  # all offsets are deleted
    if selection.topics:
        used = (group for group in groups.items if _uses(group, committed.get(group.group_id, {}), selection.topics))
        groups = groups.with_items(used)
        if not (groups.items or groups.failures):
            groups = groups.with_failures((), (NO_MATCH,))
    empty, failures = without_members(groups.items)
    deletions = (
        GroupDeletion(group, committed[group.group_id]) for group in sorted(empty) if group.group_id in committed
    )
    return groups.with_items(deletions).with_failures(failures)


def _uses(group: Group, committed: Iterable[TopicPartition], topics: Container[str]) -> bool:
    return group.is_assigned(topics) or any(topic in topics for topic, _ in committed)


async def delete_groups(
    cluster: Cluster, names: Iterable[GroupId], journal: DeleteJournal | None = None
) -> Outcome[DeletedGroup]:
    """Delete groups; one item for each, sorted. The broker rejects a group with members (NON_EMPTY_GROUP).

    :param journal: receives each result as it arrives, and can stop the deletion.
    """
    groups = sorted(set(names))
    journal = journal or Journal()
    witness: Witness[GroupId, DeletedGroup, Any] = Witness(
        journal, lambda group: (group,), lambda node, group, reply: {group: DeletedGroup(group, Result.APPLIED)}
    )
    query = _DELETE._replace(witness=witness)
    results = await query_coordinators(cluster, query, dict.fromkeys(groups))
    items = []
    for name in groups:
        failure = results.failed.get(name)
        if failure and failure.error == NOT_FOUND and name in results.unknown:
            failure = failure._replace(message=GONE)
        unknown = Result.UNKNOWN if name in results.unknown else Result.FAILED
        items.append(DeletedGroup(name, unknown if failure else Result.APPLIED, failure))
    journal.enter({item.group_id: item for item in items})
    return Outcome(tuple(items), tuple(item.failure for item in items if item.failure))
