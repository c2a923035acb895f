"""Delete groups with their committed offsets: DeleteGroups, many groups per request to each coordinator.

Over the wire, because librdkafka sends one request per group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kgroups.model.groups import GroupId, GroupType
from kgroups.model.operations.journal import Journal
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset, DeletedGroup, GroupDeletion
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Result
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis import delete_groups as api

from ...query.select_groups import Selection
from ...routing.query_coordinators import GroupQuery, query_coordinators
from ...routing.recheck import Recheck
from ...routing.witness import Witness
from ..plan.plan_delete import deletions
from .commit_log import CommitLog
from .revalidate import revalidate_deletions
from .verify_offsets import amend_after, verified_offsets

GONE = "unknown whether kgroups deleted it: the first response was lost, and on retry the group did not exist"
DeleteJournal = Journal[GroupId, DeletedGroup]
Amend = Callable[[Sequence[PlannedOffset]], None]

_DELETE: GroupQuery[Any] = GroupQuery("groups deleted", api.API, api.DeleteGroups, changes=True)


async def delete_groups(
    cluster: Cluster,
    names: Iterable[GroupId],
    journal: DeleteJournal | None = None,
    *,
    planned: Sequence[GroupDeletion] = (),
    force: bool = False,
    amend: Amend = lambda entries: None,
) -> Outcome[DeletedGroup]:
    """Delete groups; one item for each, sorted. The broker rejects a group with members (NON_EMPTY_GROUP).

    :param journal: receives each result as it arrives, and can stop the deletion.
    :param planned: the groups as planned: each is checked again right before its request. Others are deleted at once.
    :param force: also delete groups whose offsets have changed, or with open transactions.
    :param amend: receives the offsets that were really deleted, where they were others than planned.
    """
    groups = sorted(set(names))
    journal = journal or Journal()
    witness: Witness[GroupId, DeletedGroup, Any] = Witness(
        journal, lambda group: (group,), lambda node, group, reply: {group: DeletedGroup(group, Result.APPLIED)}
    )
    log = CommitLog(cluster)
    plans = {each.group.group: each for each in planned}
    before = {entry.key: entry.before for each in planned for entry in each.as_plan()}
    now: dict[GroupId, GroupDeletion] = {}

    async def check(part: Sequence[GroupId]) -> Mapping[GroupId, Failure]:
        known = [plans[name] for name in part if name in plans]
        committing = [each for each in known if each.group.type not in GroupType.WITHOUT_COMMITS]
        names = [each.group.group for each in committing]
        await log.mark((entry for each in committing for entry in each.as_plan()), names)
        found = await deletions(cluster, Selection(tuple(each.group.group for each in known)))
        checked = revalidate_deletions(known, found, force=force)
        now.update({each.group.group: each for each in checked.items})
        if changed := [
            entry for each in checked.items for entry in each.as_plan() if entry.before != before.get(entry.key)
        ]:
            amend(changed)
        return {failure.name: failure for failure in checked.failures}

    query = _DELETE._replace(witness=witness, recheck=Recheck(check, groups) if plans else None)
    results = await query_coordinators(cluster, query, dict.fromkeys(groups))
    items = []
    for name in groups:
        failure = results.failed.get(name)
        if failure and failure.error == NOT_FOUND and name in results.unknown:
            failure = failure._replace(message=GONE)
        unknown = Result.UNKNOWN if name in results.unknown else Result.FAILED
        items.append(DeletedGroup(name, unknown if failure else Result.APPLIED, failure))
    journal.enter({item.group: item for item in items})
    return await _verified(cluster, log, items, now, amend)


async def _verified(
    cluster: Cluster,
    log: CommitLog,
    items: Sequence[DeletedGroup],
    now: Mapping[GroupId, GroupDeletion],
    amend: Amend,
) -> Outcome[DeletedGroup]:
    """Return results with the failures of groups to which another client has committed since they were checked."""
    gone = [each.group for each in items if each.result is Result.APPLIED and each.group in now]
    offsets = [AppliedOffset(entry, Result.APPLIED) for name in gone for entry in now[name].as_plan()]
    committing = [name for name in gone if now[name].group.type not in GroupType.WITHOUT_COMMITS]
    verified = await verified_offsets(cluster, log, offsets, committing)
    before = {each.planned.key: each.planned.before for each in offsets}
    changed = [each.planned for each in verified.items if each.planned.before != before.get(each.planned.key)]
    unsaved = amend_after(amend, changed)
    failures = {each.planned.group: each.failure for each in verified.items if each.failure}
    kept = tuple(each._replace(failure=failures.get(each.group, each.failure)) for each in items)
    return Outcome(kept, (*(each.failure for each in kept if each.failure), *unsaved), verified.notices)
