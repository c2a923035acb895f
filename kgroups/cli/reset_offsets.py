"""``kgroups reset-offsets``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgroups.admin.change.plan import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.client import WireOnly, changing
from kgroups.admin.query.describe import describe
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.counts import count, some
from kgroups.model.operations.internal_topics import NOT_RESTORABLE, plan_topic_deletions
from kgroups.model.operations.origin import Source
from kgroups.model.operations.plan_file import java_csv, json_plan
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import TopicDeletion
from kgroups.model.outcome import Outcome, Result
from kgroups.model.views.operation_rows import NOT_EXECUTED, ResultAndError, reset_row, reset_topic_row
from kgroups.model.visible import escape
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import RESET_OFFSETS

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.internal_topics import (
    delete_topics,
    exclude_shared_topics,
)
from .change.operation import Operation
from .change.reset_request import Target, reset_request, screened_reset, write_reset
from .change.safety import Safety
from .change.undo_file import UndoFile, run_source
from .frame.group_options import GroupOptions
from .frame.options import ConnectionOptions
from .frame.run_query import Shape, print_failures, run_query


def reset_offsets(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    accepted: tuple[str, ...],
    export: bool,
    isolation: str | None,
    create_group: bool,
    safety: Safety,
    chosen: GroupOptions,
    target: Target,
    internal: tuple[str, ...],
    all_internal: bool,
) -> int:
    """Run ``kgroups reset-offsets``; return the exit code."""
    request, notices = reset_request(chosen, target, accepted, isolation)
    request = request._replace(create=create_group)
    safety.check(confirmation, connection)
    if target.scenarios["from_file"] is not None:
        connection.check_single("--from-file", "a file is for one cluster; give one --profile")
    if export:
        connection.check_single("--export", "a file is for one cluster")
        if confirmation.execute:
            raise UsageError("--export and --execute are mutually exclusive")
        if internal or all_internal:
            raise UsageError("--export cannot be combined with the deletion of internal topics")
        single = len(chosen.names) == 1 and not chosen.globs and chosen.regex is None
        return _export(connection, shape, request, notices, with_group=not single)

    async def plan(cluster: Cluster) -> Outcome[PlannedOffset | TopicDeletion]:
        planned = await screened_reset(cluster, request, notices, safety, execute=confirmation.execute)
        if not (internal or all_internal):
            return planned.with_items(planned.items)
        return await _with_topics(cluster, planned, None if all_internal else internal)

    async def apply(cluster: Cluster, planned: Sequence[PlannedOffset | TopicDeletion], undo: UndoFile) -> Outcome[Any]:
        offsets = [each for each in planned if isinstance(each, PlannedOffset)]
        topics = [each for each in planned if isinstance(each, TopicDeletion)]
        applied, rows = await write_reset(cluster, offsets, undo, safety)
        failed = {each.planned.group_id for each in applied.items if each.result is not Result.APPLIED}
        done = {entry.group_id for entry in offsets} - failed
        more, failures = await delete_topics(cluster, topics, done, reset_topic_row, undo.stop) if topics else ([], [])
        return applied.with_items((*rows, *more)).with_failures(failures)

    def row(each: PlannedOffset | TopicDeletion, result: ResultAndError = NOT_EXECUTED) -> Any:
        return reset_topic_row(each, result) if isinstance(each, TopicDeletion) else reset_row(each, result)

    def question(planned: Sequence[PlannedOffset | TopicDeletion]) -> str:
        offsets = [each for each in planned if isinstance(each, PlannedOffset)]
        topics = len(planned) - len(offsets)
        more = f", and permanently delete {count(topics, 'internal topic')}," if topics else ""
        groups = len({entry.group_id for entry in offsets})
        return f"Write {count(len(offsets), 'offset')} of {count(groups, 'group')}{more}"

    operation = Operation(RESET_OFFSETS, plan, row, question, apply, request.selection, undo_file)
    return apply_plan(connection, shape, confirmation, operation)


async def _with_topics(
    cluster: Cluster, planned: Outcome[PlannedOffset], named: tuple[str, ...] | None
) -> Outcome[PlannedOffset | TopicDeletion]:
    """Return the plan, followed by the internal topics to delete: the named ones, or all if ``named`` is ``None``."""
    names = tuple(sorted({entry.group_id for entry in planned.items}))
    if not names:
        return planned.with_items(planned.items)
    groups = await describe(cluster, Selection(names))
    topics = await exclude_shared_topics(cluster, plan_topic_deletions(groups.items, named))
    items: list[PlannedOffset | TopicDeletion] = [*planned.items, *topics.items]
    return planned.with_items(items).with_failures(
        (*groups.failures, *topics.failures), (*topics.notices, *((NOT_RESTORABLE,) if topics.items else ()))
    )


def _export(
    connection: ConnectionOptions, shape: Shape, request: ResetRequest, notices: tuple[str, ...], *, with_group: bool
) -> int:
    """Print the plan for ``--from-file`` to standard output; return the exit code."""
    WireOnly.CHANGES.check(connection.settings)

    if shape.output not in ("auto", "csv", "json"):
        raise UsageError("--export writes csv or json")

    as_json = shape.output == "json"
    sources: list[Source] = []

    async def plan(cluster: Cluster) -> Outcome[PlannedOffset]:
        planned = (await plan_reset.plan_reset(cluster, request)).with_failures((), notices)
        if as_json:
            sources.append(await run_source(cluster, connection, planned.items))
        return planned

    outcome, _ = run_query(connection.settings, changing(plan), debug=connection.debug)
    lines = json_plan(outcome.items, *sources) if as_json else java_csv(outcome.items, with_group=with_group)
    show = escape if sys.stdout.isatty() and not as_json else str
    sys.stdout.writelines(show(line) + "\n" for line in lines)
    sys.stdout.flush()
    if not as_json and (removals := sum(entry.after is None for entry in outcome.items)):
        removed = count(removals, "offset is removed", "offsets are removed")
        outcome = outcome.with_failures((), [f"{removed}, which CSV cannot express: use -o json"])
    print_failures(outcome.with_failures((), _adjusted(outcome.items)))
    return outcome.exit_code


def _adjusted(planned: Sequence[PlannedOffset]) -> list[str]:
    """Return one notice per reason why planned offsets differ from the requested ones."""
    entries: dict[str, list[str]] = {}
    for entry in planned:
        if entry.clamp:
            where = f"{entry.topic}-{entry.partition} of group '{entry.group_id}': "
            detail = f"{entry.note}, the plan has {entry.new}" if entry.note != entry.clamp else f"offset {entry.new}"
            entries.setdefault(entry.clamp, []).append(where + detail)
    return [f"{count(len(each), 'offset')} adjusted, {why}: {some(each)}" for why, each in entries.items()]
