"""What a plan says about groups and offsets that may be missing in it, and about ACLs that the change will lack."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from kgroups.model.outcome import Outcome
from kgroups.model.permissions import Acl, rejection_notices
from kgroups.net.cluster import Cluster

from ...query.authorization import rejected_without
from ...query.group_offsets import checks_acls, note_missing_offsets
from ...query.select_groups import Selection, note_missing_groups

T = TypeVar("T")


async def with_notices(
    cluster: Cluster, selection: Selection, plan: Outcome[T], needed: Iterable[Acl] = (), *, commits: bool = True
) -> Outcome[T]:
    """Add the notices about omitted groups and offsets to a plan, and about ACLs that the change will lack.

    :param needed: the ACLs that the change needs.
    :param commits: whether the plan depends on committed offsets.
    """
    if plan.items and await checks_acls(cluster):
        lacking = await rejected_without(cluster, needed)
        plan = plan.with_failures((), rejection_notices(lacking))._replace(needed=lacking)
    cluster.progress.clear()  # the check right before the change counts the groups again
    plan = await note_missing_groups(cluster, selection, plan)
    return await note_missing_offsets(cluster, selection, plan) if commits else plan
