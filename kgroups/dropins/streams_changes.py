"""The changes of ``kafka-streams-groups``, also of internal topics."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from kgroups.admin.change.apply.delete_groups import delete_groups
from kgroups.admin.change.apply.delete_now import delete_offsets_now, delete_topics
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.model.groups import Group, GroupState
from kgroups.model.offsets import Isolation
from kgroups.model.operations.internal_topics import plan_topic_deletions
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import DeletedGroup, DeletedTopic
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster

from . import changes
from .joptsimple import ParsedOptions
from .reset_options import reject_duplicates, scenario_of
from .run import change_and_write
from .sentences import CausedBy, escape_for, not_part
from .text import streams
from .topics import topics_of
from .views import TOOLS

_GROUPS = TOOLS["streams"]


def reset(parsed: ParsedOptions) -> int:
    """Plan a reset, and with ``--execute`` apply it; print the new offsets in either case."""
    selection = _GROUPS.selection(parsed)
    scenario = scenario_of(parsed)
    # Without a scope: the commits of each group on its input topics, or the partitions of the file.
    topics = None if parsed.any_of("all-input-topics", "from-file") else topics_of(parsed.all("input-topic"))
    names: list[str] = []

    async def query(cluster: Cluster) -> Outcome[Any]:
        groups = _GROUPS.only(await WireClient(cluster).describe(selection))
        names.extend(group.group for group in groups.items)
        if not names:
            return groups
        planned = await plan_reset(
            cluster,
            ResetRequest(
                Selection(tuple(names)), scenario, topics, create=True, announce=False, option="--input-topic"
            ),
        )
        if topics is not None:
            planned = _committed_only(planned)
            reject_duplicates(parsed.all("input-topic"), scenario, planned.items)
        if "execute" in parsed:
            planned = await _execute(cluster, parsed, groups.items, planned)
        return planned.with_failures(groups.failures, groups.notices)

    def write(outcome: Outcome[Any]) -> None:
        changes.write_plan(parsed, outcome.items, streams.plan_text(outcome.items, names, show=escape_for(sys.stdout)))
        changes.print_groups_without_plan(scenario, parsed.all("group"))

    failed = bool(changes.groups_without_plan(scenario, parsed.all("group")))
    return change_and_write(parsed, query, write, failed=lambda _: failed)


async def _execute(
    cluster: Cluster, parsed: ParsedOptions, groups: Sequence[Group], planned: Outcome[PlannedOffset]
) -> Outcome[PlannedOffset]:
    """Write the plan, then delete the internal topics of the groups that were written; return the written offsets."""
    applied = await changes.apply(cluster, planned)
    named = parsed.all("delete-internal-topic")
    every = "delete-all-internal-topics" in parsed
    if not (named or every):
        return applied.written
    unwritten = {entry.planned.group for entry in applied.results if entry.result is not Result.APPLIED}
    reset_groups = {entry.group for entry in applied.written.items} - unwritten
    topics = plan_topic_deletions((group for group in groups if group.group in reset_groups), None if every else named)
    deleted = await delete_topics(cluster, topics.items)
    return applied.written.with_failures((*topics.failures, *deleted.failures))


def _committed_only(planned: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
    """Return the plan without the groups that lack a commit on one of the named partitions."""
    uncommitted = {entry.group for entry in planned.items if entry.before is None}
    failures = (Failure(Scope.GROUP, name, not_part(name)) for name in sorted(uncommitted))
    return planned.with_items(entry for entry in planned.items if entry.group not in uncommitted).with_failures(
        failures
    )


def delete(parsed: ParsedOptions) -> int:
    selection = _GROUPS.selection(parsed)
    topics: list[DeletedTopic] = []

    async def query(cluster: Cluster) -> Outcome[Any]:
        groups = _GROUPS.only(await WireClient(cluster).describe(selection))
        rejected = [_not_deleted(failure) for failure in groups.failures if failure.scope is Scope.GROUP]
        failures = [failure for failure in groups.failures if failure.scope is not Scope.GROUP]
        deleted = await delete_groups(cluster, [group.group for group in groups.items])
        if "delete-all-internal-topics" in parsed:
            deleted_groups = {each.group for each in deleted.items if each.result is Result.APPLIED}
            topics_to_delete = plan_topic_deletions(
                # It had no members when it was deleted, though maybe when it was described.
                group._replace(state=GroupState.EMPTY)
                for group in groups.items
                if group.group in deleted_groups
            )
            topics.extend((await delete_topics(cluster, topics_to_delete.items)).items)
            failures += topics_to_delete.failures
        items = sorted((*deleted.items, *rejected), key=lambda each: each.group)
        return Outcome(tuple(items), tuple(failures), (*groups.notices, *deleted.notices))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(streams.undeleted_text(outcome.items, topics, escape_for(sys.stdout)))
        sys.stdout.writelines(streams.deleted_text(outcome.items, topics, escape_for(sys.stdout)))

    def failed(outcome: Outcome[Any]) -> bool:
        return any(each.failure for each in (*outcome.items, *topics))

    return change_and_write(parsed, query, write, failed=failed)


def _not_deleted(failure: Failure) -> DeletedGroup:
    if isinstance(failure.message, CausedBy) or failure.error == NOT_FOUND:
        message = f"Group '{failure.name}' does not exist or is not a streams group."
        failure = Failure(Scope.GROUP, failure.name, f"java.lang.IllegalArgumentException: {message}")
    return DeletedGroup(failure.name, Result.FAILED, failure)


def delete_offsets(parsed: ParsedOptions) -> int:
    group = changes.one_group(parsed)
    selection = _GROUPS.selection(parsed)
    every = "all-input-topics" in parsed
    topics = {} if every else topics_of(parsed.all("input-topic"))

    async def query(cluster: Cluster) -> Outcome[Any]:
        if not every:
            return await delete_offsets_now(cluster, group, topics)
        offsets = _GROUPS.only(
            await WireClient(cluster).describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
        )
        return await delete_offsets_now(cluster, group, _committed(offsets.items)) if offsets.items else offsets

    def write(outcome: Outcome[Any]) -> None:
        if outcome.items or not outcome.failures:
            changes.write_deleted_offsets(group, outcome)

    return change_and_write(parsed, query, write, failed=changes.has_failed_items)


def _committed(offsets: Iterable[Any]) -> dict[str, frozenset[int] | None]:
    """Return the partitions of input topics with a committed offset."""
    return {
        topic: frozenset(commit.partition for commit in commits)
        for item in offsets
        for topic, commits in item.commits.topics.items()
        if item.group.topology and topic in item.group.topology.sources
    }
