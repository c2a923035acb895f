"""Moves the offsets of groups: the plan, and a second look right before :mod:`.write_offsets` writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from kgroups.model.groups import Group, GroupId, GroupType
from kgroups.model.offsets import Logs
from kgroups.model.outcome import Failure, Outcome, merge
from kgroups.model.reset import PlanKey, PlannedOffset, ToGroup, ToTime, needs_log
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import TopicLeaders

from . import reset_plan
from .coordinators import find_coordinators
from .describe_groups import NOT_FOUND, describe_listed, describe_named
from .group_offsets import fetch_commits
from .log_offsets import TOPICS_A_REQUEST, fetch_logs, fetch_logs_at
from .reset_plan import Committed, ResetRequest, TopicPartition
from .select_groups import Located, Selection, locate
from .write_offsets import apply_offsets

__all__ = ["ResetRequest", "apply_offsets", "plan_reset", "still_true"]


async def plan_reset(cluster: Cluster, request: ResetRequest) -> Outcome[PlannedOffset]:
    """What would be written, sorted by group, topic, partition. Nothing is.

    A group with members is a failure (NON_EMPTY_GROUP, its state in the message), and so is a partition that cannot be
    planned; the others are planned. A named group that does not exist is planned too: to commit makes it.

    :raises UsageError: when ``topics`` or a plan names a topic or partition that does not exist, or the group to copy
        has no commits.
    """
    told = await _topics(cluster, reset_plan.topics_to_check(request))
    reset_plan.check_topics(request, told)
    groups, committed = await survey_groups(cluster, request.selection)
    missing = [name for name in sorted(request.selection.names) if _is_missing(groups, name)]
    idle, refused = reset_plan.idle_groups(groups.items)
    known = [name for name in (*idle, *missing) if name in committed]
    scenario = request.scenario
    if isinstance(scenario, ToGroup):
        found = await fetch_commits(cluster, {scenario.source: None})
        source = reset_plan.committed(commits for _, commits in found.found.values())
        scenario = reset_plan.resolved(scenario, known, source)
    request = request._replace(scenario=scenario)
    keys = reset_plan.keys_of(request, known, committed, told)
    logs, times, holes = await _logs(cluster, request, keys)
    planned = reset_plan.plan(scenario, keys, committed, logs, times)
    failures = [failure for failure in groups.failures if failure.name not in missing or failure.error != NOT_FOUND]
    notices = [f"group '{name}' does not exist: the first commit makes it" for name in missing if name in committed]
    notices += _nothing_to_do(request.selection, known, keys)
    return planned.with_failures(
        (*failures, *refused, *reset_plan.unreadable(told), *holes), (*groups.notices, *notices)
    )


async def survey_groups(cluster: Cluster, selection: Selection) -> tuple[Outcome[Group], Committed]:
    """The selected groups described, and what they have committed; of groups that were not named, the consumers'."""
    located = await locate(cluster, selection)
    listed, remarks = reset_plan.of_consumers(located.listed, selection.names)
    return await _described(cluster, located._replace(listed=tuple(listed), notices=(*located.notices, *remarks)))


async def _described(cluster: Cluster, located: Located) -> tuple[Outcome[Group], Committed]:
    listed, named, commits = await asyncio.gather(
        describe_listed(cluster, located.listed),
        describe_named(cluster, located.named),
        fetch_commits(cluster, located.with_commits()),
    )
    groups = merge((listed, named)).with_failures(located.failures, located.notices)
    told = {failure.name for failure in groups.failures}
    committed = reset_plan.committed(found for _, found in commits.found.values())
    # Share groups commit nothing, and are not there for who asks for commits.
    committed.update({group.group_id: {} for group in groups.items if group.type == GroupType.SHARE})
    committed.update({name: {} for name, failure in commits.failed.items() if failure.error == NOT_FOUND})
    unread = [failure for name, failure in commits.failed.items() if name not in told and name not in committed]
    return groups.with_failures(unread), committed


def _is_missing(groups: Outcome[Group], name: GroupId) -> bool:
    return any(failure.name == name and failure.error == NOT_FOUND for failure in groups.failures)


def _nothing_to_do(selection: Selection, groups: Iterable[GroupId], keys: Iterable[PlanKey]) -> list[str]:
    """Of the named groups those of which nothing is planned."""
    busy = {group for group, _, _ in keys}
    return [f"group '{name}' has no such commits" for name in groups if name in selection.names and name not in busy]


async def _topics(cluster: Cluster, names: Sequence[str]) -> dict[str, TopicLeaders]:
    """:raises KgroupsError: when no broker tells of them."""
    told: dict[str, TopicLeaders] = {}
    for at in range(0, len(names), TOPICS_A_REQUEST):
        answer = await cluster.refresh(names[at : at + TOPICS_A_REQUEST])
        told.update({entry.topic: entry for entry in answer.topics})
    return told


async def _logs(
    cluster: Cluster, request: ResetRequest, keys: Iterable[PlanKey]
) -> tuple[Logs, Mapping[TopicPartition, int | None], tuple[Failure, ...]]:
    """Both ends of all logs, and where they were at the scenario's time."""
    if not needs_log(request.scenario):
        return Logs(), {}, ()
    wanted: dict[str, set[int]] = {}
    for _, topic, partition in keys:
        wanted.setdefault(topic, set()).add(partition)
    if isinstance(request.scenario, ToTime):
        return await fetch_logs_at(cluster, wanted, max(0, request.scenario.ms))  # below 0 are the wire's own words
    logs, holes = await fetch_logs(cluster, wanted)
    return logs, {}, holes


async def still_true(
    cluster: Cluster, planned: Iterable[PlannedOffset], *, with_members: bool = False
) -> Outcome[PlannedOffset]:
    """The plan without the groups that have members by now, or other commits; these are failures. To be asked right
    before :func:`apply_offsets`.

    :param with_members: members are no hindrance, to the deletion of commits that nobody reads.
    """
    entries = list(planned)
    where, lost = await find_coordinators(cluster, {entry.group_id for entry in entries})
    groups, committed = await _described(cluster, Located(named=where))
    unread = [failure for failure in groups.failures if failure.error != NOT_FOUND]
    unknown = {failure.name for failure in unread}
    readable = {name: commits for name, commits in committed.items() if name not in unknown}
    checked = reset_plan.still_as_planned(entries, groups.items, readable, with_members=with_members)
    return checked.with_failures((*lost.values(), *unread))
