"""Delete groups in chunks, each group checked again right before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgroups.model.groups import GroupId
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset, DeletedGroup, GroupDeletion
from kgroups.model.outcome import Failure, Outcome, Result
from kgroups.net.cluster import Cluster

from ...query.select_groups import Selection
from ..plan.plan_delete import plan_delete
from .chunks import FIRST_GROUPS, GROUPS_AT_ONCE, UndoLog, check_again, chunks, not_together
from .delete_groups import DeleteJournal, delete_groups
from .interruption import Interruption
from .revalidate import revalidate_deletions


async def delete_in_chunks(
    cluster: Cluster,
    groups: Sequence[GroupDeletion],
    undo: UndoLog,
    *,
    force: bool = False,
    together: bool = False,
) -> Outcome[DeletedGroup]:
    """Delete planned groups; one item for each, in their order.

    A group that has changed since it was planned is left alone and is a failure.

    :param force: also delete groups whose offsets have changed.
    :param together: check all groups before the first one is deleted; if one has changed, delete none.
    """

    async def check(part: Sequence[GroupDeletion]) -> Outcome[GroupDeletion]:
        now = await plan_delete(cluster, Selection(_names(part)))
        return revalidate_deletions(part, now, force=force)

    everyone = _names(groups)
    if together and (changed := (await check(groups)).failures):
        held = not_together(changed, everyone)
        return Outcome(tuple(DeletedGroup(name, Result.FAILED, held[name]) for name in everyone), tuple(held.values()))
    stop = undo.stop
    commits = {planned.group.group: tuple(planned.as_plan()) for planned in groups}
    journal: DeleteJournal = Journal(lambda items: undo.record(_as_applied(items, commits)))
    stop.watch(journal)
    results: dict[GroupId, DeletedGroup] = {}
    failures: list[Failure] = []
    notices: dict[str, None] = {}
    left, going = list(groups), list[GroupDeletion]()
    while left and not going:
        first, left = left[:FIRST_GROUPS], left[FIRST_GROUPS:]
        names = _names(first)
        checked = await check_again(names, check(first), stop)
        reasons = {failure.name: failure for failure in checked.failures}
        failures += checked.failures
        going += checked.items
        alone = {name: DeletedGroup(name, Result.FAILED, reasons.get(name)) for name in {*names} - {*_names(going)}}
        results.update(alone)
        journal.enter(alone)
    if going:
        going += left
        await undo.save(cluster, [entry for each in going for entry in each.as_plan()])
    for part in chunks(going, GROUPS_AT_ONCE):
        names = _names(part)
        delete = delete_groups(cluster, names, journal, planned=part, force=force, amend=undo.amend)
        deleted = await stop.bound(delete) or _so_far(journal, names, stop)
        results.update({each.group: each for each in deleted.items})
        failures += deleted.failures
        notices.update(dict.fromkeys(deleted.notices))
    undo.close()
    return Outcome(tuple(results[name] for name in everyone), tuple(failures), tuple(notices))


def _names(groups: Iterable[GroupDeletion]) -> tuple[GroupId, ...]:
    return tuple(planned.group.group for planned in groups)


def _so_far(journal: DeleteJournal, names: Sequence[GroupId], stop: Interruption) -> Outcome[DeletedGroup]:
    """Return what is known about a deletion that a signal ended."""
    for name in names:
        if journal.in_doubt(name):
            journal.enter({name: DeletedGroup(name, Result.UNKNOWN, stop.unanswered(name))})
        else:
            journal.enter({name: DeletedGroup(name, Result.FAILED, stop.not_sent(name))})
    items = tuple(journal.results[name] for name in names)
    return Outcome(items, tuple(each.failure for each in items if each.failure))


def _as_applied(
    deleted: Iterable[DeletedGroup], commits: Mapping[GroupId, Sequence[PlannedOffset]]
) -> Iterator[AppliedOffset]:
    """Yield the results of the offsets of deleted groups."""
    for each in deleted:
        for entry in commits[each.group]:
            yield AppliedOffset(entry, each.result, each.failure)
