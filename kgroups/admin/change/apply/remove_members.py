"""Remove members from groups by LeaveGroup requests in their name (KIP-345, Kafka 2.4).

A member that is alive joins again when it notices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kgroups.errors import Reason
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.results import MemberRemoval, RemovedMember
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import leave_group
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import KafkaError

from ...query.describe import describe
from ...query.select_groups import Selection
from ...routing.query_coordinators import GroupQuery, GroupResults, query_coordinators
from ...routing.recheck import Recheck
from ...routing.witness import Witness
from ..plan.plan_removal import not_as_planned

MemberErrors = leave_group.MemberErrors
RemovalJournal = Journal[GroupId, tuple[RemovedMember, ...]]


async def remove_members(
    cluster: Cluster, removals: Iterable[MemberRemoval], reason: str, journal: RemovalJournal | None = None
) -> Outcome[RemovedMember]:
    """Remove members; one item for each.

    Each group is checked again right before its request, and after each wait: see :func:`not_as_planned`.

    :param reason: for the log of the brokers, since Kafka 3.2 (KIP-800).
    :param journal: receives the results of each group as they arrive, and can stop the removal.
    """
    groups: dict[GroupId, list[MemberRemoval]] = {}
    for removal in removals:
        groups.setdefault(removal.group, []).append(removal)

    def call(names: tuple[GroupId, ...]) -> Call[Mapping[GroupId, MemberErrors | KafkaError]]:
        (name,) = names
        return leave_group.LeaveGroup(name, tuple(map(_identity, groups[name])), reason)

    witness: Witness[GroupId, tuple[RemovedMember, ...], MemberErrors] = Witness(
        journal or Journal(),
        lambda group: (group,),
        lambda node, group, errors: {group: tuple(_result(removal, node, errors) for removal in groups[group])},
    )

    async def check(part: Sequence[GroupId]) -> Mapping[GroupId, Failure]:
        now = await describe(cluster, Selection(tuple(part)))
        changed = not_as_planned((removal for name in part for removal in groups[name]), now)
        return {each.removal.group: each.failure for each in changed if each.failure}

    question: GroupQuery[MemberErrors] = GroupQuery(
        "groups left",
        leave_group.API,
        call,
        chunk=1,
        changes=True,
        witness=witness,
        recheck=Recheck(check, groups),
    )
    answers = await query_coordinators(cluster, question, dict.fromkeys(groups))
    items = [_removed(removal, answers) for name in sorted(groups) for removal in groups[name]]
    return Outcome(tuple(items), tuple(dict.fromkeys(item.failure for item in items if item.failure)))


def _identity(removal: MemberRemoval) -> tuple[str, str | None]:
    """Return the member ID, or only the instance ID of a static member: its member ID changes when it rejoins."""
    return ("", removal.member.instance_id) if removal.member.instance_id else (removal.member.member_id, None)


def _removed(removal: MemberRemoval, answers: GroupResults[MemberErrors]) -> RemovedMember:
    group = removal.group
    if group in answers.failed:
        result = Result.UNKNOWN if group in answers.unknown else Result.FAILED
        return RemovedMember(removal, result, answers.failed[group])
    return _result(removal, *answers.found[group])


def _result(removal: MemberRemoval, node: Node, errors: MemberErrors) -> RemovedMember:
    group = removal.group
    member_id, instance = _identity(removal)
    # Some brokers return the member ID of a static member, some what was sent.
    found = [error for (named, of), error in errors.items() if (of == instance if instance else named == member_id)]
    name = removal.member.instance_id or removal.member.member_id
    if not found:
        message = f"member '{name}' is missing in the broker's response"
        failure = Failure(
            Scope.GROUP, group, message, api=leave_group.API.name, broker=node.id, reason=Reason.INVALID_RESPONSE
        )
        return RemovedMember(removal, Result.UNKNOWN, failure)
    if error := found[0]:
        named = error._replace(message=f"member '{name}': {error.message}")
        failure = named.failure(Scope.GROUP, group, api=leave_group.API.name, broker=node.id)
        return RemovedMember(removal, Result.FAILED, failure)
    return RemovedMember(removal, Result.APPLIED)
