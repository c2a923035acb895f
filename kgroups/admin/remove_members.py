"""Removes members from groups: LeaveGroup in their name (KIP-345, Kafka 2.4)."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.acts import Leaver, RemovedMember
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster

from .select_groups import Selection


async def plan_removal(
    cluster: Cluster,
    selection: Selection,
    *,
    member_ids: frozenset[str] = frozenset(),
    instance_ids: frozenset[str] = frozenset(),
    everyone: bool = False,
) -> Outcome[Leaver]:
    """The members that are meant, sorted; one that is in none of the groups is a failure."""
    raise NotImplementedError


async def remove_members(cluster: Cluster, leavers: Iterable[Leaver], reason: str) -> Outcome[RemovedMember]:
    """Removes them; one item for each. ``reason`` reaches the brokers' log from Kafka 3.2 on (KIP-800)."""
    raise NotImplementedError
