"""Plan the removal of members, and compare them with the plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kgroups.errors import Reason
from kgroups.model.counts import some
from kgroups.model.groups import Group, GroupType, Member
from kgroups.model.operations.results import MemberRemoval, RemovedMember
from kgroups.model.outcome import Failure, NoMatch, Outcome, Result, Scope
from kgroups.model.permissions import needed_acls
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import leave_group

from ...query.describe import describe
from ...query.select_groups import Selection
from .needs_kafka import members_that_can_be_removed
from .plan_notices import with_notices

STAYING = {
    kind: f"members of {kind.lower()} groups cannot be removed; stop them"
    for kind in (GroupType.SHARE, GroupType.STREAMS)
}
"""The group types from which brokers remove no members."""


class WantedMembers(NamedTuple):
    """The members to remove from the selected groups: by member ID, by group instance ID, or all of them."""

    member_ids: frozenset[str] = frozenset()
    instance_ids: frozenset[str] = frozenset()
    everyone: bool = False

    def matches(self, member: Member) -> bool:
        return self.everyone or member.member_id in self.member_ids or member.instance_id in self.instance_ids


async def plan_removal(cluster: Cluster, selection: Selection, wanted: WantedMembers) -> Outcome[MemberRemoval]:
    """Return the members to remove, sorted by group and member ID; an ID that no member has is a failure."""
    planned = await members_that_can_be_removed(cluster, await _plan(cluster, selection, wanted))
    needed = (acl for each in planned.items for acl in needed_acls(leave_group.API.name, each.group))
    return await with_notices(cluster, selection, planned, needed, commits=False)


async def _plan(cluster: Cluster, selection: Selection, wanted: WantedMembers) -> Outcome[MemberRemoval]:
    groups = await describe(cluster, selection)
    selection.check_complete(groups.failures)
    notices = tuple(notice for notice in groups.notices if not isinstance(notice, NoMatch))
    unmatched = selection.unmatched(group.group for group in groups.items)
    groups = groups._replace(notices=notices).with_failures(unmatched)
    staying = {group.group: STAYING[group.type] for group in groups.items if group.type in STAYING and group.members}
    removals = [
        MemberRemoval(group.group, member)
        for group in groups.items
        for member in sorted(group.members or (), key=lambda member: member.member_id)
        if wanted.matches(member) and group.group not in staying
    ]
    ids = {removal.member.member_id for removal in removals}
    static = {removal.member.instance_id for removal in removals}
    unseen = [f"no member with the id '{name}'" for name in sorted(wanted.member_ids - ids)]
    unseen += [f"no member with the instance id '{name}'" for name in sorted(wanted.instance_ids - static)]
    where = [group.group for group in groups.items]
    scope, name = (Scope.GROUP, where[0]) if len(where) == 1 else (Scope.CLUSTER, "")
    failures = [
        Failure(scope, name, message, api="DescribeGroups", reason=Reason.NOT_APPLICABLE) for message in unseen if where
    ]
    without = [
        group.group
        for group in groups.items
        if group.group in selection.names and group.members is not None and not group.members
    ]
    if wanted.everyone and without:
        groups = groups.with_failures((), [f"no members: {some(without)}"])
    failures += [Failure(Scope.GROUP, name, message, reason=Reason.NOT_APPLICABLE) for name, message in staying.items()]
    return groups.with_items(removals).with_failures(failures)


def not_as_planned(removals: Iterable[MemberRemoval], groups: Outcome[Group]) -> list[RemovedMember]:
    """Return the planned members that must be left alone, each with the reason.

    The member has left; a static member has rejoined with another member ID, and LeaveGroup by instance ID would remove
    the new one; or the group cannot be described now.

    :param groups: the groups of the members, described again.
    """
    now = {group.group: group.members or () for group in groups.items}
    unread = {failure.name: failure for failure in groups.failures if failure.scope is Scope.GROUP}
    refused: list[RemovedMember] = []
    for removal in removals:
        name, member = removal
        if name in unread:
            refused.append(RemovedMember(removal, Result.FAILED, unread[name]))
        elif not any(each.member_id == member.member_id for each in now.get(name, ())):
            failure = Failure(
                Scope.GROUP, name, _changed(member, now.get(name, ())), api="DescribeGroups", reason=Reason.CHANGED
            )
            refused.append(RemovedMember(removal, Result.FAILED, failure))
    return refused


def _changed(member: Member, now: Iterable[Member]) -> str:
    for each in now:
        if member.instance_id and each.instance_id == member.instance_id:
            return (
                f"member '{member.instance_id}' rejoined after the plan was made, as '{each.member_id}': "
                "not removed; run the command again"
            )
    return f"member '{member.instance_id or member.member_id}' left the group after the plan was made"
