"""Removes members from groups: LeaveGroup in their name (KIP-345, Kafka 2.4).

A member whose process lives joins again as soon as it notices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType, Member
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.results import MemberRemoval, RemovedMember
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import leave_group
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import KafkaError

from ..query.describe import describe
from ..query.select_groups import Selection
from ..routing.query_coordinators import GroupQuery, GroupResults, query_coordinators
from ..routing.witness import Witness

STAYING = {
    kind: f"a {kind.lower()} group: its members cannot be removed, only stopped"
    for kind in (GroupType.SHARE, GroupType.STREAMS)
}
"""The kinds of groups from which brokers remove nobody."""

MemberErrors = leave_group.MemberErrors
RemovalJournal = Journal[GroupId, tuple[RemovedMember, ...]]


class WantedMembers(NamedTuple):
    """Which members of the selected groups: by their ids, by instance ids, or all of them."""

    member_ids: frozenset[str] = frozenset()
    instance_ids: frozenset[str] = frozenset()
    everyone: bool = False

    def matches(self, member: Member) -> bool:
        return self.everyone or member.member_id in self.member_ids or member.instance_id in self.instance_ids


async def plan_removal(cluster: Cluster, selection: Selection, wanted: WantedMembers) -> Outcome[MemberRemoval]:
    """The members that are meant, sorted by group and member id; an id that no member has is a failure."""
    groups = await describe(cluster, selection)
    groups = groups.with_failures(selection.unmatched(group.group_id for group in groups.items))
    staying = {group.group_id: STAYING[group.type] for group in groups.items if group.type in STAYING and group.members}
    leavers = [
        MemberRemoval(group.group_id, member)
        for group in groups.items
        for member in sorted(group.members or (), key=lambda member: member.member_id)
        if wanted.matches(member) and group.group_id not in staying
    ]
    ids = {leaver.member.member_id for leaver in leavers}
    static = {leaver.member.instance_id for leaver in leavers}
    unseen = [f"no member with the id '{name}'" for name in sorted(wanted.member_ids - ids)]
    unseen += [f"no member with the instance id '{name}'" for name in sorted(wanted.instance_ids - static)]
    where = ", ".join(group.group_id for group in groups.items)
    failures = [Failure(Scope.GROUP, where, message, api="DescribeGroups") for message in unseen] if where else []
    failures += [Failure(Scope.GROUP, name, message) for name, message in staying.items()]
    return groups.with_items(leavers).with_failures(failures)


def not_as_planned(leavers: Iterable[MemberRemoval], groups: Outcome[Group]) -> list[RemovedMember]:
    """Those of an old plan who have to be left alone, each with the reason.

    They are gone, or a static member has come back with another member id: LeaveGroup by the instance id would remove
    the new one. Or their group cannot be described now.

    :param groups: the leavers' groups as they are now.
    """
    now = {group.group_id: group.members or () for group in groups.items}
    unread = {failure.name: failure for failure in groups.failures if failure.scope is Scope.GROUP}
    refused: list[RemovedMember] = []
    for leaver in leavers:
        name, member = leaver
        if name in unread:
            refused.append(RemovedMember(leaver, Result.FAILED, unread[name]))
        elif not any(each.member_id == member.member_id for each in now.get(name, ())):
            failure = Failure(Scope.GROUP, name, _changed(member, now.get(name, ())), api="DescribeGroups")
            refused.append(RemovedMember(leaver, Result.FAILED, failure))
    return refused


def _changed(member: Member, now: Iterable[Member]) -> str:
    for each in now:
        if member.instance_id and each.instance_id == member.instance_id:
            return (
                f"member '{member.instance_id}' rejoined after the plan was made, as '{each.member_id}': "
                "it is not removed; plan it again"
            )
    return f"member '{member.instance_id or member.member_id}' left the group after the plan was made"


async def remove_members(
    cluster: Cluster, leavers: Iterable[MemberRemoval], reason: str, journal: RemovalJournal | None = None
) -> Outcome[RemovedMember]:
    """Removes them; one item for each. ``reason`` reaches the brokers' log from Kafka 3.2 on (KIP-800).

    :param journal: learns each group's results as they arrive, and can stop the removal.
    """
    groups: dict[GroupId, list[MemberRemoval]] = {}
    for leaver in leavers:
        groups.setdefault(leaver.group_id, []).append(leaver)

    def call(names: tuple[GroupId, ...]) -> Call[Mapping[GroupId, MemberErrors | KafkaError]]:
        (name,) = names
        return leave_group.LeaveGroup(name, tuple(map(_identity, groups[name])), reason)

    witness: Witness[GroupId, tuple[RemovedMember, ...], MemberErrors] = Witness(
        journal or Journal(),
        lambda group: (group,),
        lambda node, group, errors: {group: tuple(_told(leaver, node, errors) for leaver in groups[group])},
    )
    question: GroupQuery[MemberErrors] = GroupQuery(
        "groups left", leave_group.API, call, chunk=1, changes=True, witness=witness
    )
    answers = await query_coordinators(cluster, question, dict.fromkeys(groups))
    items = [_removed(leaver, answers) for name in sorted(groups) for leaver in groups[name]]
    return Outcome(tuple(items), tuple(dict.fromkeys(item.failure for item in items if item.failure)))


def _identity(leaver: MemberRemoval) -> tuple[str, str | None]:
    """A static member goes by its instance id alone: its member id changes when it comes back."""
    return ("", leaver.member.instance_id) if leaver.member.instance_id else (leaver.member.member_id, None)


def _removed(leaver: MemberRemoval, answers: GroupResults[MemberErrors]) -> RemovedMember:
    group = leaver.group_id
    if group in answers.failed:
        result = Result.UNKNOWN if group in answers.unknown else Result.FAILED
        return RemovedMember(leaver, result, answers.failed[group])
    return _told(leaver, *answers.found[group])


def _told(leaver: MemberRemoval, node: Node, errors: MemberErrors) -> RemovedMember:
    group = leaver.group_id
    member_id, instance = _identity(leaver)
    # Some brokers give the member id of a static member back, some what was asked.
    found = [error for (named, of), error in errors.items() if (of == instance if instance else named == member_id)]
    name = leaver.member.instance_id or leaver.member.member_id
    if not found:
        message = f"member '{name}' is left out of the broker's answer"
        failure = Failure(Scope.GROUP, group, message, api=leave_group.API.name, broker=node.id)
        return RemovedMember(leaver, Result.UNKNOWN, failure)
    if error := found[0]:
        told = error._replace(message=f"member '{name}': {error.message}")
        failure = told.failure(Scope.GROUP, group, api=leave_group.API.name, broker=node.id)
        return RemovedMember(leaver, Result.FAILED, failure)
    return RemovedMember(leaver, Result.APPLIED)
