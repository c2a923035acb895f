"""``kgroups delete``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgroups.admin.change.apply.delete_in_chunks import delete_in_chunks
from kgroups.admin.change.plan.hidden_offsets import hidden_offsets
from kgroups.admin.change.plan.plan_delete import plan_delete
from kgroups.admin.still_committing import in_transactions
from kgroups.errors import UsageError
from kgroups.model.counts import count, some
from kgroups.model.groups import GroupType
from kgroups.model.operations.internal_topics import NOT_RESTORABLE, kept_remarks, plan_topic_deletions
from kgroups.model.operations.results import GroupDeletion, TopicDeletion
from kgroups.model.outcome import Outcome, Result
from kgroups.model.views.operation_rows import (
    NOT_EXECUTED,
    ResultAndError,
    delete_row,
    delete_topic_row,
    result_and_error,
)
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import DELETE

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation
from .change.internal_topics import delete_topics, exclude_shared_topics
from .change.operation import Operation
from .change.safety import Safety
from .change.undo_file import UndoFile
from .frame.group_options import GroupOptions
from .frame.options import ConnectionOptions
from .frame.run_query import Shape


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
    safety.check(confirmation, connection)
    selection = chosen.selection()

    async def plan(cluster: Cluster) -> Outcome[GroupDeletion | TopicDeletion]:
        planned = await safety.plan(cluster, lambda: plan_delete(cluster, selection))
        if not including_hidden:
            planned = await _without_hidden(cluster, planned)
        committed = {
            each.group.group_id: each.commits
            for each in planned.items
            if each.group.type not in GroupType.WITHOUT_COMMITS
        }
        pending = in_transactions(entry for each in planned.items for entry in each.as_plan())
        screened = await safety.screen(
            cluster, planned, committed, lambda each: each.group.group_id, execute=confirmation.execute, pending=pending
        )
        return await _with_topics(cluster, screened, all_internal)

    async def apply(cluster: Cluster, planned: Sequence[GroupDeletion | TopicDeletion], undo: UndoFile) -> Outcome[Any]:
        groups = [item for item in planned if isinstance(item, GroupDeletion)]
        topics = [item for item in planned if isinstance(item, TopicDeletion)]
        if bare := [item.group.group_id for item in groups if not item.commits]:
            missing = "not in the undo file" if len(bare) < len(groups) else "no undo file"
            undo.tell(f"{missing}: {count(len(bare), 'group has', 'groups have')} no committed offsets: {some(bare)}")
        deleted = await delete_in_chunks(cluster, groups, undo, force=safety.force, together=safety.together)
        results = {each.group_id: result_and_error(each.result, each.failure) for each in deleted.items}
        rows = [delete_row(item, results[item.group.group_id]) for item in groups]
        deleted_groups = [each.group_id for each in deleted.items if each.result is Result.APPLIED]
        more, refused = (
            await delete_topics(cluster, topics, deleted_groups, delete_topic_row, undo.stop) if topics else ([], [])
        )
        return Outcome((*rows, *more), (*deleted.failures, *refused))

    def row(item: GroupDeletion | TopicDeletion, result: ResultAndError = NOT_EXECUTED) -> Any:
        return delete_topic_row(item, result) if isinstance(item, TopicDeletion) else delete_row(item, result)

    def question(planned: Sequence[GroupDeletion | TopicDeletion]) -> str:
        groups = [each for each in planned if isinstance(each, GroupDeletion)]
        topics = len(planned) - len(groups)
        more = f", and permanently {count(topics, 'internal topic')}," if topics else ""
        offsets = sum(len(each.commits) for each in groups)
        return f"Delete {count(len(groups), 'group')} with {count(offsets, 'offset')}{more}"

    operation = Operation(DELETE, plan, row, question, apply, selection, undo_file)
    return apply_plan(connection, shape, confirmation, operation)


async def _without_hidden(cluster: Cluster, planned: Outcome[GroupDeletion]) -> Outcome[GroupDeletion]:
    """Return the groups whose committed offsets are all visible; each other group is a failure."""
    seen = {
        each.group.group_id: each.commits for each in planned.items if each.group.type not in GroupType.WITHOUT_COMMITS
    }
    hidden = await hidden_offsets(cluster, seen, "--including-hidden-offsets")
    kept = (each for each in planned.items if each.group.group_id not in hidden)
    return planned.with_items(kept).with_failures(hidden.values())


async def _with_topics(
    cluster: Cluster, planned: Outcome[GroupDeletion], all_internal: bool
) -> Outcome[GroupDeletion | TopicDeletion]:
    """Add the internal topics after the groups if they are deleted, too; otherwise, add notices that they are kept."""
    groups = [item.group for item in planned.items if item.group.type == GroupType.STREAMS]
    without_topics: Outcome[GroupDeletion | TopicDeletion] = planned.with_items(planned.items)
    if not groups:
        return without_topics

    if not all_internal:
        return without_topics.with_failures((), kept_remarks(groups))
    topics = await exclude_shared_topics(cluster, plan_topic_deletions(groups))
    items: list[GroupDeletion | TopicDeletion] = [*planned.items, *topics.items]
    return planned.with_items(items).with_failures(
        topics.failures, (*topics.notices, *((NOT_RESTORABLE,) if topics.items else ()))
    )
