"""Plan a reset: look up the facts, from which :mod:`.decide_reset` decides. Nothing is changed.

A plan is applied in two more steps: :mod:`.revalidate` and :mod:`.apply_offsets`, in chunks (:mod:`.write_in_chunks`).
"""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.operations.reset import PlannedOffset, SkipRecords, ToGroup, ToTime, needs_log
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster

from ...query.leader_epochs import EpochAt, epochs_in_log
from ...query.next_records import next_records
from ...query.select_groups import Selection
from ...routing.partition_leaders import topic_leaders
from .decide_reset import (
    Facts,
    Targets,
    compare_with_file,
    draft_offsets,
    epochs_of_draft,
    epochs_of_file,
    finish_plan,
    select_partitions,
    unread_positions,
)
from .lookups import groups_with_offsets, logs_at
from .needs_kafka import acls_of_offsets, offsets_that_can_be_deleted, supported_writes
from .plan_notices import with_notices
from .reset_request import ResetRequest, check_topics, topics_to_check
from .restore import for_cluster


async def plan_reset(cluster: Cluster, request: ResetRequest) -> Outcome[PlannedOffset]:
    """Plan the new offsets, sorted by group, topic, and partition; without those that brokers are too old to write.

    Failures: a group with members (NON_EMPTY_GROUP), a partition that cannot be planned, a partition of an undo that no
    longer exists, and a named group that does not exist, unless the request creates it.

    :raises UsageError: if a named topic or partition does not exist, the group to copy has no committed offsets, or the
        offsets are of another cluster.
    """
    request, notices = for_cluster(request, cluster.cluster_id)
    planned = await supported_writes(cluster, await _planned(cluster, request))
    planned = (await offsets_that_can_be_deleted(cluster, planned)).with_failures((), notices)
    return await with_notices(cluster, request.selection, planned, acls_of_offsets(planned.items))


async def _planned(cluster: Cluster, request: ResetRequest) -> Outcome[PlannedOffset]:
    """Look up facts about what is still to be planned, step by step, and plan."""
    facts = await _groups(cluster, request)
    targets = select_partitions(facts)
    facts = await _epochs(cluster, facts, epochs_of_file(facts, targets))
    targets = compare_with_file(facts, targets)
    facts = await _logs(cluster, facts, targets)
    draft = draft_offsets(facts, targets)
    facts = await _epochs(cluster, facts, epochs_of_draft(targets, draft))
    return finish_plan(facts, targets, draft)


async def _groups(cluster: Cluster, request: ResetRequest) -> Facts:
    topics = await topic_leaders(cluster, topics_to_check(request))
    check_topics(request, topics)
    facts = Facts(request, topics, *await groups_with_offsets(cluster, request.selection))
    if not isinstance(request.scenario, ToGroup):
        return facts
    source, commits, _ = await groups_with_offsets(cluster, Selection((request.scenario.source,)))
    return facts._replace(source=(source, commits))


async def _logs(cluster: Cluster, facts: Facts, targets: Targets) -> Facts:
    scenario = targets.scenario
    if not targets.keys:
        return facts
    # Negative timestamps have special meanings in ListOffsets.
    ms = max(0, scenario.ms) if isinstance(scenario, ToTime) else None
    logs, times, failures = await logs_at(cluster, {key[1:] for key in targets.keys}, ms, facts.topics)
    # An undo needs no logs: its plan notes what is unknown.
    facts = facts._replace(logs=logs, times=times, log_failures=failures if needs_log(scenario) else ())
    if isinstance(scenario, SkipRecords) and (positions := unread_positions(facts, targets)):
        found, failed = await next_records(cluster, positions.values(), scenario.count, isolation=scenario.isolation)
        facts = facts._replace(records=found, unread=failed)
    return facts


async def _epochs(cluster: Cluster, facts: Facts, wanted: Iterable[EpochAt]) -> Facts:
    """Look up leader epochs that are not known yet."""
    new = frozenset(wanted) - facts.epochs.keys()
    if not new:
        return facts
    return facts._replace(epochs={**facts.epochs, **dict.fromkeys(new), **await epochs_in_log(cluster, new)})
