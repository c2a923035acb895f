"""Deletes groups with all that they have committed: DeleteGroups, many groups a request to each coordinator."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.acts import DeletedGroup, DoomedGroup
from kgroups.model.groups import GroupId
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster

from .select_groups import Selection


async def plan_delete(cluster: Cluster, selection: Selection) -> Outcome[DoomedGroup]:
    """The selected groups that can be deleted, sorted; those with members, or that do not exist, are failures."""
    raise NotImplementedError


async def delete_groups(cluster: Cluster, names: Iterable[GroupId]) -> Outcome[DeletedGroup]:
    """Deletes them; one item for each, sorted. The broker refuses a group with members (NON_EMPTY_GROUP)."""
    raise NotImplementedError
