"""Moves the offsets of groups: the plan, and a second look right before :mod:`.write_offsets` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgroups.model.groups import Group
from kgroups.model.offsets import Logs
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import TopicLeaders

from ..query.describe import describe_with_offsets
from ..query.log_offsets import fetch_logs, fetch_logs_at
from ..query.select_groups import Selection, resolve
from ..routing.partition_leaders import TopicPartition, by_topic, read_topics
from . import reset_plan
from .make_plan import Times, look_again, make_plan
from .reset_plan import Committed, ResetRequest
from .write_offsets import apply_offsets

__all__ = ["ResetRequest", "apply_offsets", "plan_reset", "still_true"]


async def plan_reset(cluster: Cluster, request: ResetRequest) -> Outcome[PlannedOffset]:
    """What would be written, sorted by group, topic, partition. Nothing is.

    A group with members is a failure (NON_EMPTY_GROUP, its state in the message), and so is a partition that cannot be
    planned; the others are planned. A named group that does not exist is a failure, unless the request
    creates it or is an undo.
    An undo's partition that is gone is a failure.

    :raises UsageError: when ``topics`` or another plan names a topic or partition that does not exist, or the group to
        copy has no commits.
    """
    return await make_plan(WireLookups(cluster), request)


async def still_true(
    cluster: Cluster, planned: Iterable[PlannedOffset], *, with_members: bool = False, force: bool = False
) -> Outcome[PlannedOffset]:
    """The plan without the groups that have members by now, or other commits; these are failures. To be asked right
    before :func:`apply_offsets` of a plan that is not fresh.

    :param with_members: members are no hindrance, to the deletion of commits that nobody reads.
    :param force: other commits are no hindrance either; what they are now takes the place of what was planned over.
    """
    return await look_again(WireLookups(cluster), planned, with_members=with_members, force=force)


class WireLookups:
    """What our wire client tells: see :class:`kgroups.admin.change.make_plan.Lookups`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def topics(self, names: Sequence[str]) -> dict[str, TopicLeaders]:
        """:raises KgroupsError: when no broker tells of them."""
        told, failed = await read_topics(self._cluster, names)
        for error in failed.values():
            raise error
        return told

    async def groups(self, selection: Selection) -> tuple[Outcome[Group], Committed]:
        resolved = await resolve(self._cluster, selection)
        unmatched = selection.unmatched(group.group_id for group in resolved.listed)
        kept, remarks = reset_plan.in_reach(resolved.listed, selection)
        resolved = resolved._replace(listed=tuple(kept))
        groups, commits = await describe_with_offsets(self._cluster, resolved)
        groups = groups.with_failures(unmatched, remarks)
        told = {failure.name for failure in groups.failures}
        committed = reset_plan.committed(found for _, found in commits.found.values())
        committed.update({name: {} for name, failure in commits.failed.items() if failure.error == NOT_FOUND})
        unread = [failure for name, failure in commits.failed.items() if name not in told and name not in committed]
        return groups.with_failures(unread), committed

    async def logs(self, pairs: Iterable[TopicPartition], ms: int | None) -> tuple[Logs, Times, tuple[Failure, ...]]:
        wanted = by_topic(pairs)
        if ms is not None:
            return await fetch_logs_at(self._cluster, wanted, ms)
        logs, holes = await fetch_logs(self._cluster, wanted)
        return logs, {}, holes
