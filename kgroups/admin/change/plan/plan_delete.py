"""Plan the deletion of groups."""

from __future__ import annotations

from collections.abc import Container, Iterable

from kgroups.model.groups import Group
from kgroups.model.operations.results import GroupDeletion
from kgroups.model.outcome import NO_MATCH, Outcome
from kgroups.model.permissions import needed_acls
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import delete_groups as api

from ...query.select_groups import Selection
from ...routing.partition_leaders import TopicPartition, topic_leaders
from .lookups import groups_with_offsets, without_members
from .needs_kafka import supported_changes
from .plan_notices import with_notices


async def plan_delete(cluster: Cluster, selection: Selection) -> Outcome[GroupDeletion]:
    """Return the selected groups without members, sorted; those with members, or that do not exist, are failures."""
    planned = await deletions(cluster, selection)
    planned = await supported_changes(cluster, planned, api.API, lambda each: each.group.group)
    needed = (acl for each in planned.items for acl in needed_acls(api.API.name, each.group.group))
    return await with_notices(cluster, selection, planned, needed)


async def deletions(cluster: Cluster, selection: Selection) -> Outcome[GroupDeletion]:
    groups, committed, pending = await groups_with_offsets(
        cluster, selection._replace(topics=frozenset())
    )  # all offsets are deleted
    if selection.topics:
        used = (group for group in groups.items if _uses(group, committed.get(group.group, {}), selection.topics))
        groups = groups.with_items(used)
        if not (groups.items or groups.failures):
            groups = groups.with_failures((), (NO_MATCH,))
    empty, failures = without_members(groups.items)
    empty = [group for group in sorted(empty) if group.group in committed]
    topics = sorted({topic for group in empty for topic, _ in committed[group.group]})
    ids = {name: each.topic_id for name, each in (await topic_leaders(cluster, topics)).items() if each.topic_id}
    deletions = (
        GroupDeletion(
            group,
            committed[group.group],
            {topic: ids[topic] for topic, _ in committed[group.group] if topic in ids},
            pending.get(group.group, frozenset()),
        )
        for group in empty
    )
    return groups.with_items(deletions).with_failures(failures)


def _uses(group: Group, committed: Iterable[TopicPartition], topics: Container[str]) -> bool:
    return group.is_assigned(topics) or any(topic in topics for topic, _ in committed)
