"""Check a plan again, right before it is applied: the groups must be as they were when it was made."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.groups import Group, GroupState
from kgroups.model.operations.reset import PlannedOffset, by_group
from kgroups.model.operations.results import GroupDeletion
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope

from ..query.select_groups import Selection
from .lookups import Committed, Lookups, has_members


async def revalidate_offsets(
    lookups: Lookups, planned: Iterable[PlannedOffset], *, with_members: bool = False, force: bool = False
) -> Outcome[PlannedOffset]:
    """Return planned offsets without those of groups that have members or other offsets now; these are failures.

    :param with_members: keep groups that have members, for deletions of offsets that no member uses.
    :param force: keep groups with other offsets; the offsets of now become ``before``.
    """
    entries = list(planned)
    if not entries:
        return Outcome()
    groups, committed = await lookups.groups(Selection(tuple(sorted({entry.group_id for entry in entries}))))
    unread = [failure for failure in groups.failures if failure.error != NOT_FOUND]
    unknown = {failure.name for failure in unread}
    readable = {name: commits for name, commits in committed.items() if name not in unknown}
    checked = _as_planned(entries, groups.items, readable, with_members=with_members, force=force)
    return checked.with_failures(unread)


def _as_planned(
    planned: Iterable[PlannedOffset],
    groups: Iterable[Group],
    committed: Committed,
    *,
    with_members: bool,
    force: bool,
) -> Outcome[PlannedOffset]:
    by_name = {group.group_id: group for group in groups}
    kept: list[PlannedOffset] = []
    failures: list[Failure] = []
    for name, entries in by_group(planned):
        group = by_name.get(name)
        if name not in committed:
            continue  # it could not be read, and has a failure already
        if group and group.state not in GroupState.WITHOUT_MEMBERS and not with_members:
            failures.append(has_members(group))
        elif force:
            kept += [entry._replace(before=committed[name].get((entry.topic, entry.partition))) for entry in entries]
        elif any(committed[name].get((entry.topic, entry.partition)) != entry.before for entry in entries):
            message = "its offsets have changed since the plan was made; nothing was written; run the command again"
            failures.append(Failure(Scope.GROUP, name, message))
        else:
            kept += entries
    return Outcome(tuple(kept), tuple(failures))


def revalidate_deletions(
    planned: Iterable[GroupDeletion], now: Outcome[GroupDeletion], *, force: bool = False
) -> Outcome[GroupDeletion]:
    """Return the groups that can be deleted now and whose offsets are as planned; the others are failures.

    :param now: a new plan of the same groups.
    :param force: keep groups with other offsets.
    """
    before = {each.group.group_id: each.commits for each in planned}
    kept: list[GroupDeletion] = []
    failures: list[Failure] = []
    for each in now.items:
        name = each.group.group_id
        if force or each.commits == before.get(name):
            kept.append(each)
        else:
            message = "its offsets have changed since the plan was made; not deleted; run the command again"
            failures.append(Failure(Scope.GROUP, name, message))
    return now.with_items(kept).with_failures(failures)
