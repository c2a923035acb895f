"""The changes of ``kafka-streams-groups``: ``--reset-offsets``, ``--delete``, ``--delete-offsets``, internal topics.

Like the Java tool, and unlike ``kgroups``, they neither ask for confirmation nor write an undo file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgroups.admin.change.apply_offsets import apply_offsets
from kgroups.admin.change.delete_groups import delete_groups
from kgroups.admin.change.delete_now import delete_offsets_now, delete_topics
from kgroups.admin.change.plan_reset import plan_reset
from kgroups.admin.change.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireAdmin
from kgroups.cli.frame.group_options import check_name
from kgroups.model.groups import Group, GroupState
from kgroups.model.offsets import Isolation
from kgroups.model.operations.internal_topics import doomed_topics
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import DeletedGroup, DeletedTopic
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster

from .acts import groups_without_plan, print_groups_without_plan, scenario_of, topics_of
from .command import change_and_write, escape_for
from .joptsimple import ParsedOptions
from .sentences import CausedBy, not_part
from .streams_kind import only_streams, streams_selection
from .text.operations import deleted_offsets_text, fallback_text, offset_errors_text, plan_csv, remark_lines
from .text.streams import deleted_text, plan_text, undeleted_text


def reset(parsed: ParsedOptions) -> int:
    """Plan a reset, and with ``--execute`` apply it; print the new offsets in either case."""
    selection = streams_selection(parsed)
    scenario, topics = scenario_of(parsed), _topics(parsed)
    names: list[str] = []

    async def query(cluster: Cluster) -> Outcome[Any]:
        described = await WireAdmin(cluster).describe(selection)
        groups = only_streams(described, described.items)
        names.extend(group.group_id for group in groups.items)
        if not names:
            return groups
        planned = await plan_reset(cluster, ResetRequest(Selection(tuple(names)), scenario, topics, create=True))
        planned = planned if topics is None else _committed_only(planned)
        if "execute" in parsed:
            planned = await _execute(cluster, parsed, groups.items, planned)
        return planned.with_failures(groups.failures, groups.notices)

    def write(outcome: Outcome[Any]) -> None:
        planned: tuple[PlannedOffset, ...] = outcome.items
        for line in remark_lines(planned):
            print(line, file=sys.stderr)
        sys.stdout.writelines(fallback_text(planned, show=escape_for(sys.stdout)))
        if "export" in parsed:
            sys.stdout.writelines(
                plan_csv(planned, with_group=len(parsed.all("group")) != 1, show=escape_for(sys.stdout))
            )
        else:
            sys.stdout.writelines(plan_text(planned, names, show=escape_for(sys.stdout)))
        sys.stdout.flush()
        print_groups_without_plan(scenario, parsed.all("group"))

    return change_and_write(
        parsed, query, write, failed=lambda _: bool(groups_without_plan(scenario, parsed.all("group")))
    )


async def _execute(
    cluster: Cluster, parsed: ParsedOptions, groups: Sequence[Group], planned: Outcome[PlannedOffset]
) -> Outcome[PlannedOffset]:
    """Write the plan, then delete the internal topics of the groups that were written; return the written offsets."""
    applied = await apply_offsets(cluster, planned.items)
    written = [entry.planned for entry in applied.items if entry.result is Result.APPLIED]
    failures = list(applied.failures)
    named = parsed.all("delete-internal-topic")
    if named or "delete-all-internal-topics" in parsed:
        reset_groups = {entry.group_id for entry in written} - {
            entry.planned.group_id for entry in applied.items if entry.result is not Result.APPLIED
        }
        topics_to_delete = doomed_topics(
            (group for group in groups if group.group_id in reset_groups),
            None if "delete-all-internal-topics" in parsed else named,
        )
        failures += [
            *topics_to_delete.failures,
            *(await delete_topics(cluster, topics_to_delete.items)).failures,
        ]
    return planned.with_items(written).with_failures(failures)


def _committed_only(planned: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
    """Return the plan without the groups that lack a commit on one of the named partitions."""
    uncommitted = {entry.group_id for entry in planned.items if entry.before is None}
    failures = (Failure(Scope.GROUP, name, not_part(name)) for name in sorted(uncommitted))
    return planned.with_items(entry for entry in planned.items if entry.group_id not in uncommitted).with_failures(
        failures
    )


def _topics(parsed: ParsedOptions) -> Mapping[str, frozenset[int] | None] | None:
    """Return the scope: ``None`` for the commits of each group on its input topics, or for the file's partitions."""
    return None if parsed.any_of("all-input-topics", "from-file") else topics_of(parsed.all("input-topic"))


def delete(parsed: ParsedOptions) -> int:
    selection = streams_selection(parsed)
    topics: list[DeletedTopic] = []

    async def query(cluster: Cluster) -> Outcome[Any]:
        described = await WireAdmin(cluster).describe(selection)
        groups = only_streams(described, described.items)
        rejected = [_not_deleted(failure) for failure in groups.failures if failure.scope is Scope.GROUP]
        failures = [failure for failure in groups.failures if failure.scope is not Scope.GROUP]
        deleted = await delete_groups(cluster, [group.group_id for group in groups.items])
        if "delete-all-internal-topics" in parsed:
            deleted_groups = {each.group_id for each in deleted.items if each.result is Result.APPLIED}
            topics_to_delete = doomed_topics(
                _as_empty(group) for group in groups.items if group.group_id in deleted_groups
            )
            topics.extend((await delete_topics(cluster, topics_to_delete.items)).items)
            failures += topics_to_delete.failures
        items = sorted((*deleted.items, *rejected), key=lambda each: each.group_id)
        return Outcome(tuple(items), tuple(failures), (*groups.notices, *deleted.notices))

    def _not_deleted(failure: Failure) -> DeletedGroup:
        if isinstance(failure.message, CausedBy) or failure.error == NOT_FOUND:
            message = f"Group '{failure.name}' does not exist or is not a streams group."
            failure = Failure(Scope.GROUP, failure.name, f"java.lang.IllegalArgumentException: {message}")
        return DeletedGroup(failure.name, Result.FAILED, failure)

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(deleted_text(outcome.items, topics, escape_for(sys.stdout)))
        sys.stdout.flush()
        sys.stderr.writelines(undeleted_text(outcome.items, topics, escape_for(sys.stderr)))

    def failed(outcome: Outcome[Any]) -> bool:
        return any(each.failure for each in (*outcome.items, *topics))

    return change_and_write(parsed, query, write, failed=failed)


def _as_empty(group: Group) -> Group:
    """Return a deleted group as empty: it had no members when it was deleted, though maybe when it was described."""
    return group._replace(state=GroupState.EMPTY)


def delete_offsets(parsed: ParsedOptions) -> int:
    group = parsed.one("group") or ""
    check_name(group)
    selection = streams_selection(parsed)
    topics: dict[str, frozenset[int] | None] = {}
    if "all-input-topics" not in parsed:
        topics = topics_of(parsed.all("input-topic"))

    async def query(cluster: Cluster) -> Outcome[Any]:
        if "all-input-topics" not in parsed:
            return await delete_offsets_now(cluster, group, topics)
        offsets = await WireAdmin(cluster).describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
        streams = only_streams(offsets, [item.group for item in offsets.items])
        return await delete_offsets_now(cluster, group, _committed(streams.items)) if streams.items else streams

    def write(outcome: Outcome[Any]) -> None:
        sys.stderr.writelines(offset_errors_text(outcome.items, escape_for(sys.stderr)))
        sys.stderr.flush()
        if outcome.items or not outcome.failures:
            show, failed = escape_for(sys.stdout), bool(outcome.failures)
            sys.stdout.writelines(deleted_offsets_text(group, outcome.items, show=show, failed=failed))

    return change_and_write(parsed, query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def _committed(offsets: Iterable[Any]) -> dict[str, frozenset[int] | None]:
    """Return the partitions of input topics with a committed offset."""
    return {
        topic: frozenset(commit.partition for commit in commits)
        for item in offsets
        for topic, commits in item.commits.topics.items()
        if item.group.topology and topic in item.group.topology.sources
    }
