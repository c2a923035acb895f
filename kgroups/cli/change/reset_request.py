"""Plan and write a reset, from the options of ``reset-offsets``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kgroups.errors import UsageError

from ..frame.group_options import GroupOptions
from .safety import Safety
from .scenario import one_scenario, scenario_of
from .undo_file import UndoFile

if TYPE_CHECKING:
    from kgroups.admin.change.reset_request import ResetRequest
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.operations.results import AppliedOffset
    from kgroups.model.outcome import Outcome
    from kgroups.model.views.operation_rows import ResetRow
    from kgroups.net.cluster import Cluster


def reset_request(
    chosen: GroupOptions,
    topics: tuple[str, ...],
    all_topics: bool,
    scenarios: dict[str, Any],
    accepted: tuple[str, ...] = (),
    isolation: str | None = None,
) -> tuple[ResetRequest, tuple[str, ...]]:
    """Return the request of the options, and notices about it.

    :raises UsageError: if options conflict, or if groups, partitions, or target offsets are not selected.
    """
    from kgroups.admin.change.reset_request import ResetRequest
    from kgroups.model.topic_scope import parse_topic_scope

    flag, value = one_scenario(scenarios)
    if topics and all_topics:
        raise UsageError("--topic and --all-topics are mutually exclusive")
    scope = parse_topic_scope(topics) if topics else None
    if isolation and flag != "skip_records":
        raise UsageError("--isolation requires --skip-records")
    if flag == "from_file":
        from .plan_source import plan_for, read_plan

        if chosen.in_states or chosen.of_types:
            raise UsageError("--from-file cannot be combined with --state and --type; select groups by name or --regex")
        named = chosen.selection() if chosen.any_given else None
        scenario, selection, notices = plan_for(read_plan(value), value, named, accepted)
        return ResetRequest(selection, scenario, scope), notices
    if accepted:
        raise UsageError("--accept-mismatch requires --from-file")
    if not (topics or all_topics or flag == "to_group"):
        raise UsageError("no partitions selected: use --topic TOPIC[:0,2-5] or --all-topics")
    return ResetRequest(chosen.selection(), scenario_of(flag, value, isolation or "read_uncommitted"), scope), ()


async def screened_reset(
    cluster: Cluster, request: ResetRequest, notices: Sequence[str], safety: Safety, *, execute: bool
) -> Outcome[PlannedOffset]:
    """Return the plan, without the groups for which a client still commits."""
    from kgroups.admin.change.plan_reset import plan_reset
    from kgroups.model.operations.skip import skip_notices

    planned = await safety.plan(cluster, lambda: plan_reset(cluster, request))
    planned = planned.with_failures(
        (), (*notices, *skip_notices((entry.key, entry.skipped) for entry in planned.items))
    )
    # An undo is screened, too: an unchanged offset does not prove that commits ended, because a client with nothing
    # to read commits the same offset again, and an undo file contains no commit times.
    return await safety.screen_offsets(cluster, planned, execute=execute)


async def write_reset(
    cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile, safety: Safety
) -> tuple[Outcome[AppliedOffset], list[ResetRow]]:
    """Write planned offsets; return the results, and a row for each."""
    from kgroups.model.views.operation_rows import reset_row, result_and_error

    applied = await write_offsets(cluster, planned, undo, force=safety.force, together=safety.together)
    return applied, [reset_row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items]


async def write_offsets(
    cluster: Cluster,
    planned: Sequence[PlannedOffset],
    undo: UndoFile,
    *,
    force: bool = False,
    with_members: bool = False,
    together: bool = False,
) -> Outcome[AppliedOffset]:
    """Write planned offsets with :func:`.write_in_chunks`; return a result for each, also for skipped groups."""
    from kgroups.admin.change.write_in_chunks import write_in_chunks
    from kgroups.model.outcome import Outcome

    done = await write_in_chunks(cluster, planned, undo, force=force, with_members=with_members, together=together)
    items = sorted((*done.applied, *done.left_alone), key=lambda each: each.planned.key)
    return Outcome(tuple(items), done.failures, done.notices)
