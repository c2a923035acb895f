"""``kgroups delete``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kgroups.admin.change.apply.delete_in_chunks import delete_in_chunks
from kgroups.admin.change.plan.hidden_offsets import hidden_offsets
from kgroups.admin.change.plan.plan_delete import plan_delete
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.still_committing import Committed, in_transactions
from kgroups.errors import UsageError
from kgroups.model.counts import count, some
from kgroups.model.groups import GroupType
from kgroups.model.operations.internal_topics import kept_remarks
from kgroups.model.operations.results import GroupDeletion, TopicDeletion
from kgroups.model.outcome import Outcome, Result
from kgroups.model.views.operation_rows import (
    NOT_EXECUTED,
    DeleteRow,
    ResultAndError,
    delete_row,
    delete_topic_row,
    result_and_error,
)
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import DELETE

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.internal_topics import delete_topics, with_topics
from .change.operation import Operation, split_topics
from .change.safety import Safety
from .change.undo_file import UndoFile
from .frame.options import ConnectionOptions
from .frame.output import Shape
from .frame.selected_groups import GroupOptions


def delete(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    empty_for: float | None,
    all_internal: bool,
    including_hidden: bool,
    safety: Safety,
    chosen: GroupOptions,
) -> int:
    """Run ``kgroups delete``; return the exit code."""
    if empty_for is not None:
        raise UsageError(
            "--empty-for: Kafka does not report how long a group has been empty; kgroups history stale finds "
            "it in the records of __consumer_offsets"
        )
    safety = safety.of(confirmation, connection)
    operation = Delete(safety, chosen.selection(), undo_file, all_internal, including_hidden)
    return apply_plan(connection, shape, confirmation, operation)


@dataclass
class Delete(Operation[GroupDeletion | TopicDeletion]):
    """The deletion of groups.

    ``all_internal``: also delete the internal topics of streams groups. ``hidden``: also delete groups with hidden
    offsets.
    """

    view = DELETE

    safety: Safety
    selection: Selection
    undo_path: Path | None
    all_internal: bool
    hidden: bool

    async def plan(self, cluster: Cluster) -> Outcome[GroupDeletion | TopicDeletion]:
        planned = await self.safety.plan(cluster, lambda: plan_delete(cluster, self.selection))
        if not self.hidden:
            planned = await _without_hidden(cluster, planned)
        pending = in_transactions(entry for each in planned.items for entry in each.as_plan())
        planned = await self.safety.screen(
            cluster, planned, _committed(planned), lambda each: each.group.group, pending
        )
        groups = [item.group for item in planned.items if item.group.type == GroupType.STREAMS]
        if groups and self.all_internal:
            return await with_topics(cluster, planned, groups)
        kept: Outcome[GroupDeletion | TopicDeletion] = planned.with_items(planned.items)
        return kept.with_failures((), kept_remarks(groups)) if groups else kept

    def row(self, item: GroupDeletion | TopicDeletion, result: ResultAndError = NOT_EXECUTED) -> DeleteRow:
        return delete_topic_row(item, result) if isinstance(item, TopicDeletion) else delete_row(item, result)

    def question(self, planned: Sequence[GroupDeletion | TopicDeletion]) -> str:
        groups, topics = split_topics(planned)
        more = f", and permanently {count(len(topics), 'internal topic')}," if topics else ""
        offsets = sum(len(each.commits) for each in groups)
        return f"Delete {count(len(groups), 'group')} with {count(offsets, 'offset')}{more}"

    async def apply(
        self, cluster: Cluster, planned: Sequence[GroupDeletion | TopicDeletion], undo: UndoFile
    ) -> Outcome[DeleteRow]:
        groups, topics = split_topics(planned)
        if bare := [item.group.group for item in groups if not item.commits]:
            missing = "not in the undo file" if len(bare) < len(groups) else "no undo file"
            undo.tell(f"{missing}: {count(len(bare), 'group has', 'groups have')} no committed offsets: {some(bare)}")
        safety = self.safety
        deleted = await delete_in_chunks(cluster, groups, undo, force=safety.force, together=safety.together)
        results = {each.group: result_and_error(each.result, each.failure) for each in deleted.items}
        rows = [delete_row(item, results[item.group.group]) for item in groups]
        done = [each.group for each in deleted.items if each.result is Result.APPLIED]
        more, refused = await delete_topics(cluster, topics, done, delete_topic_row, undo.stop) if topics else ([], [])
        return Outcome((*rows, *more), (*deleted.failures, *refused))


def _committed(planned: Outcome[GroupDeletion]) -> Committed:
    """Return the committed offsets of planned groups that commit."""
    return {
        each.group.group: each.commits for each in planned.items if each.group.type not in GroupType.WITHOUT_COMMITS
    }


async def _without_hidden(cluster: Cluster, planned: Outcome[GroupDeletion]) -> Outcome[GroupDeletion]:
    """Return the groups whose committed offsets are all visible; each other group is a failure."""
    hidden = await hidden_offsets(cluster, _committed(planned), "--including-hidden-offsets")
    kept = (each for each in planned.items if each.group.group not in hidden)
    return planned.with_items(kept).with_failures(hidden.values())
