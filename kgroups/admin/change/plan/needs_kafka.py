"""Find changes that a broker is too old for while they are planned, so that a dry run reports them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from kgroups.errors import KgroupsError, Reason, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.counts import count
from kgroups.model.groups import GroupId, GroupType
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import MemberRemoval
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import Acl, needed_acls
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import (
    alter_share_group_offsets,
    delete_share_group_offsets,
    leave_group,
    offset_commit,
    offset_delete,
)
from kgroups.protocol.versions import Api

from ...routing.coordinators import known_coordinators

T = TypeVar("T")

SINCE = "2.4"
"""The Kafka version with OffsetDelete (KIP-496), and with LeaveGroup v3 for other clients (KIP-345)."""

_WRITES_OF = {
    (False, True): offset_commit.API,
    (False, False): offset_delete.API,
    (True, True): alter_share_group_offsets.API,
    (True, False): delete_share_group_offsets.API,
}
"""Whether it is a share group, and whether there will be an offset -> the API that changes offsets."""


async def offsets_that_can_be_deleted(cluster: Cluster, planned: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
    """Return the plan without deletions that the group's coordinator does not know; each is a failure."""
    if all(entry.before and entry.after for entry in planned.items):
        return planned
    ours = [entry for entry in planned.items if entry.kind not in GroupType.WITHOUT_COMMITS]
    deleted = {entry.group for entry in ours if entry.before and not entry.after}
    added = {entry.group for entry in ours if entry.after and not entry.before}
    too_old = await _too_old(cluster, deleted | added, offset_delete.API)
    if not too_old:
        return planned
    refused = {entry.key for entry in ours if entry.group in too_old and entry.before and not entry.after}
    failures = [
        Failure(
            Scope.GROUP,
            name,
            f"deleting a committed offset needs Kafka {SINCE} (OffsetDelete)",
            broker=node.id,
            reason=Reason.VERSION_UNSUPPORTED,
        )
        for name, node in sorted(too_old.items())
        if name in deleted
    ]
    new = sum(bool(entry.after and not entry.before and entry.group in too_old) for entry in ours)
    notice = f"{count(new, 'new committed offset')} cannot be undone: that needs Kafka {SINCE} (OffsetDelete)"
    kept = (entry for entry in planned.items if entry.key not in refused)
    return planned.with_items(kept).with_failures(failures, (notice,) if new else ())


async def members_that_can_be_removed(cluster: Cluster, planned: Outcome[MemberRemoval]) -> Outcome[MemberRemoval]:
    """Return the plan without members whose coordinator is too old to remove them; each group is a failure."""
    too_old = await _too_old(cluster, {removal.group for removal in planned.items}, leave_group.API)
    failures = [
        Failure(
            Scope.GROUP,
            name,
            f"removing members needs Kafka {SINCE} (LeaveGroup v3)",
            broker=node.id,
            reason=Reason.VERSION_UNSUPPORTED,
        )
        for name, node in sorted(too_old.items())
    ]
    kept = (removal for removal in planned.items if removal.group not in too_old)
    return planned.with_items(kept).with_failures(failures) if too_old else planned


async def supported_changes(
    cluster: Cluster, planned: Outcome[T], api: Api, group_of: Callable[[T], GroupId | None]
) -> Outcome[T]:
    """Return the plan without groups whose coordinator does not support an API; each of them is a failure.

    :param group_of: the group of an item that needs the API, or ``None``.
    """
    too_old = await _too_old(cluster, filter(None, map(group_of, planned.items)), api)
    failures = []
    for name, node in sorted(too_old.items()):
        error = UnsupportedVersion(f"the broker does not support {api}", peer=str(node))
        failures.append(Failure.of(error, Scope.GROUP, name, api=api.name, broker=node.id))
    kept = (item for item in planned.items if group_of(item) not in too_old)
    return planned.with_items(kept).with_failures(failures) if too_old else planned


async def supported_writes(cluster: Cluster, planned: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
    """Return the plan without new offsets that the group's coordinator cannot write; each group is a failure."""

    def of(*, share: bool, writes: bool) -> Callable[[PlannedOffset], GroupId | None]:
        def group_of(entry: PlannedOffset) -> GroupId | None:
            needed = (entry.kind == GroupType.SHARE, entry.after is not None) == (share, writes)
            return entry.group if needed else None

        return group_of

    planned = await supported_changes(cluster, planned, offset_commit.API, of(share=False, writes=True))
    planned = await supported_changes(cluster, planned, alter_share_group_offsets.API, of(share=True, writes=True))
    return await supported_changes(cluster, planned, delete_share_group_offsets.API, of(share=True, writes=False))


def acls_of_offsets(planned: Iterable[PlannedOffset]) -> Iterator[Acl]:
    """Yield the ACLs that writing or deleting the offsets needs."""
    for entry in planned:
        share = entry.kind == GroupType.SHARE
        api = _WRITES_OF[share, entry.after is not None]
        yield from needed_acls(api.name, entry.group, (entry.topic,))


async def _too_old(cluster: Cluster, groups: Iterable[GroupId], api: Api) -> Mapping[GroupId, Node]:
    """Return the coordinators that do not support an API, by group; look up none if it is not needed."""
    names = set(groups)
    known = {cluster.coordinators[name] for name in names if name in cluster.coordinators}
    some = known if names <= cluster.coordinators.keys() else cluster.nodes.values()
    if not names or not [node for node in some if await _lacks(cluster, node, api)]:
        return {}
    where, _ = await known_coordinators(cluster, names)
    return {name: node for name, node in where.items() if await _lacks(cluster, node, api)}


async def _lacks(cluster: Cluster, node: Node, api: Api) -> bool:
    """Return whether a broker is known not to support an API; if it does not respond, the write will fail."""
    try:
        return not await cluster.speaks(node, api)
    except KgroupsError:
        return False
