"""``kgroups delete-offsets``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgroups.admin.change.plan.plan_delete_offsets import plan_delete_offsets
from kgroups.admin.query.describe import describe
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.counts import count
from kgroups.model.groups import GroupState
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Outcome
from kgroups.model.topic_scope import parse_topic_scope
from kgroups.model.views.operation_rows import delete_offset_row, result_and_error
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import DELETE_OFFSETS

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.operation import Operation
from .change.reset_request import write_offsets
from .change.safety import Safety
from .change.undo_file import UndoFile
from .frame.group_options import GroupOptions
from .frame.options import ConnectionOptions
from .frame.run_query import Shape


def delete_offsets(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    safety: Safety,
    chosen: GroupOptions,
    topics: tuple[str, ...],
) -> int:
    """Run ``kgroups delete-offsets``; return the exit code."""
    if not topics:
        raise UsageError("no topic selected: use --topic TOPIC[:0,2-5]")
    scope = parse_topic_scope(topics)
    safety.check(confirmation, connection)
    selection = chosen.selection()

    async def plan(cluster: Cluster) -> Outcome[PlannedOffset]:
        planned = await safety.plan(cluster, lambda: plan_delete_offsets(cluster, selection, scope))
        names = tuple(sorted({entry.group_id for entry in planned.items}))
        groups = (await describe(cluster, Selection(names))).items if names else ()
        members = [group.group_id for group in groups if group.state not in GroupState.WITHOUT_MEMBERS]
        return await safety.screen_offsets(cluster, planned, execute=confirmation.execute, members=members)

    async def apply(cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile) -> Outcome[Any]:
        applied = await write_offsets(
            cluster, planned, undo, force=safety.force, with_members=True, together=safety.together
        )
        rows = (delete_offset_row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items)
        return applied.with_items(rows)

    def question(planned: Sequence[PlannedOffset]) -> str:
        groups = len({entry.group_id for entry in planned})
        return f"Delete {count(len(planned), 'offset')} of {count(groups, 'group')}"

    operation = Operation(DELETE_OFFSETS, plan, delete_offset_row, question, apply, selection, undo_file)
    return apply_plan(connection, shape, confirmation, operation)
