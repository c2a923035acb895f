"""``kgroups remove-members``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgroups.admin.change.apply import remove_members as removing
from kgroups.admin.change.apply.chunks import check_again, chunks
from kgroups.admin.change.apply.interruption import Interruption
from kgroups.admin.change.apply.remove_members import RemovalJournal
from kgroups.admin.change.plan.plan_removal import WantedMembers, not_as_planned, plan_removal
from kgroups.admin.query.describe import describe
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.results import MemberRemoval, RemovedMember
from kgroups.model.outcome import Failure, Outcome, Result
from kgroups.model.views.operation_rows import (
    NOT_EXECUTED,
    RemoveMemberRow,
    ResultAndError,
    remove_member_row,
    result_and_error,
)
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import REMOVE_MEMBERS

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.operation import Operation
from .change.undo_file import UndoFile
from .frame.options import ConnectionOptions
from .frame.output import Shape
from .frame.selected_groups import GroupOptions

MEMBERS_AT_ONCE = 500
"""Members whose groups are checked again, and that are then removed."""


def remove_members(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    members: tuple[str, ...],
    instances: tuple[str, ...],
    all_members: bool,
    reason: str,
    chosen: GroupOptions,
) -> int:
    """Run ``kgroups remove-members``; return the exit code."""
    if all_members and (members or instances):
        raise UsageError("--all-members cannot be combined with --member or --instance")
    if not (all_members or members or instances):
        raise UsageError("no members selected: use --member ID, --instance ID, or --all-members")
    requested = WantedMembers(frozenset(members), frozenset(instances), all_members)
    return apply_plan(connection, shape, confirmation, RemoveMembers(chosen.selection(), requested, reason))


@dataclass
class RemoveMembers(Operation[MemberRemoval]):
    """The removal of members."""

    view = REMOVE_MEMBERS
    verb = "Remove"
    item = "member"
    saves_offsets = False
    undo_path = None

    selection: Selection
    requested: WantedMembers
    reason: str

    async def plan(self, cluster: Cluster) -> Outcome[MemberRemoval]:
        return await plan_removal(cluster, self.selection, self.requested)

    def row(self, item: MemberRemoval, result: ResultAndError = NOT_EXECUTED) -> RemoveMemberRow:
        return remove_member_row(item, result)

    async def apply(
        self, cluster: Cluster, planned: Sequence[MemberRemoval], undo: UndoFile
    ) -> Outcome[RemoveMemberRow]:
        stop = undo.stop
        items: list[RemovedMember] = []
        failures: dict[Failure, None] = {}
        for part in chunks(sorted(planned, key=_key), MEMBERS_AT_ONCE):
            names = tuple(sorted({each.group for each in part}))
            described = await check_again(names, describe(cluster, Selection(names)), stop)
            rejected = not_as_planned(part, described)
            rejected_keys = {_key(each.removal) for each in rejected}
            to_remove = [each for each in part if _key(each) not in rejected_keys]
            journal: RemovalJournal = Journal()
            stop.watch(journal)
            removal = removing.remove_members(cluster, to_remove, self.reason, journal)
            removed = await stop.bound(removal) or _so_far(journal, to_remove, stop)
            items += (*removed.items, *rejected)
            failures.update(dict.fromkeys((*removed.failures, *(each.failure for each in rejected if each.failure))))
        items.sort(key=lambda each: _key(each.removal))
        rows = (remove_member_row(each.removal, result_and_error(each.result, each.failure)) for each in items)
        return Outcome(tuple(rows), tuple(failures))


def _so_far(journal: RemovalJournal, removals: Sequence[MemberRemoval], stop: Interruption) -> Outcome[RemovedMember]:
    """Return the known results of a removal that a signal ended."""
    items: list[RemovedMember] = []
    for removal in removals:
        group = removal.group
        known = {_key(each.removal): each for each in journal.results.get(group, ())}
        if journal.in_doubt(group):
            items.append(RemovedMember(removal, Result.UNKNOWN, stop.unanswered(group)))
        else:
            items.append(known.get(_key(removal)) or RemovedMember(removal, Result.FAILED, stop.not_sent(group)))
    return Outcome(tuple(items), tuple(dict.fromkeys(each.failure for each in items if each.failure)))


def _key(removal: MemberRemoval) -> tuple[str, str]:
    return removal.group, removal.member.member_id
