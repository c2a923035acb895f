"""``kgroups delete-offsets``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgroups.admin.change.plan.plan_delete_offsets import plan_delete_offsets
from kgroups.admin.query.describe import describe
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.groups import GroupState
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Outcome
from kgroups.model.topic_scope import TopicScope, parse_topic_scope
from kgroups.model.views.operation_rows import (
    NOT_EXECUTED,
    DeleteOffsetRow,
    ResultAndError,
    delete_offset_row,
)
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import DELETE_OFFSETS

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.reset import OffsetOperation
from .change.safety import Safety
from .frame.options import ConnectionOptions
from .frame.output import Shape
from .frame.selected_groups import GroupOptions

if TYPE_CHECKING:
    from .change.undo_file import UndoFile


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
    safety = safety.of(confirmation, connection)
    operation = DeleteOffsets(safety, chosen.selection(), scope, undo_file)
    return apply_plan(connection, shape, confirmation, operation)


@dataclass
class DeleteOffsets(OffsetOperation[PlannedOffset]):
    """The deletion of committed offsets on topics that no member is subscribed to."""

    view = DELETE_OFFSETS
    verb = "Delete"

    safety: Safety
    selection: Selection
    topics: TopicScope
    undo_path: Path | None

    async def plan(self, cluster: Cluster) -> Outcome[PlannedOffset]:
        planned = await self.safety.plan(cluster, lambda: plan_delete_offsets(cluster, self.selection, self.topics))
        names = tuple(sorted({entry.group for entry in planned.items}))
        groups = (await describe(cluster, Selection(names))).items if names else ()
        members = [group.group for group in groups if group.state not in GroupState.WITHOUT_MEMBERS]
        return await self.safety.screen_offsets(cluster, planned, members)

    def row(self, item: PlannedOffset, result: ResultAndError = NOT_EXECUTED) -> DeleteOffsetRow:
        return delete_offset_row(item, result)

    async def apply(
        self, cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile
    ) -> Outcome[DeleteOffsetRow]:
        return self.rows(await self.write(cluster, planned, undo, with_members=True))
