"""The operations that write offsets or delete them: what the commands share, and the reset itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.model.counts import count
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.results import AppliedOffset, TopicDeletion
from kgroups.model.operations.skip import skip_notices
from kgroups.model.outcome import Outcome, Result
from kgroups.model.views.operation_rows import (
    NOT_EXECUTED,
    ResultAndError,
    reset_row,
    reset_topic_row,
    result_and_error,
)
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import RESET_OFFSETS

from .operation import Operation, P
from .safety import Safety

if TYPE_CHECKING:
    from .undo_file import UndoFile


class OffsetOperation(Operation[P]):
    """An operation on committed offsets, with the safety options."""

    def __init__(self, safety: Safety, selection: Selection | None = None, undo_path: Path | None = None) -> None:
        super().__init__(selection, undo_path)
        self.safety = safety

    async def write(
        self, cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile, *, with_members: bool = False
    ) -> Outcome[AppliedOffset]:
        """Write planned offsets; return a result for each, also for those of groups left alone."""
        from kgroups.admin.change.apply.write_in_chunks import write_in_chunks  # a dry run does not write

        safety = self.safety
        return await write_in_chunks(
            cluster, planned, undo, force=safety.force, with_members=with_members, together=safety.together
        )


class Reset(OffsetOperation[PlannedOffset | TopicDeletion]):
    """A reset, and the deletion of internal topics of the streams groups that were reset."""

    view = RESET_OFFSETS

    def __init__(
        self,
        request: ResetRequest,
        safety: Safety,
        notices: Sequence[str] = (),
        topics: tuple[str, ...] | None = (),
        undo_path: Path | None = None,
    ) -> None:
        """Create a reset.

        :param notices: about the request.
        :param topics: the internal topics to delete; ``None``: all.
        """
        super().__init__(safety, request.selection, undo_path)
        self._request = request
        self._notices = notices
        self._topics = topics

    async def plan(self, cluster: Cluster) -> Outcome[PlannedOffset | TopicDeletion]:
        planned = await self.safety.plan(cluster, lambda: plan_reset(cluster, self._request))
        skipped = skip_notices((entry.key, entry.skipped) for entry in planned.items)
        planned = planned.with_failures((), (*self._notices, *skipped))
        # An undo is screened, too: an unchanged offset does not prove that commits ended, because a client with nothing
        # to read commits the same offset again, and an undo file contains no commit times.
        planned = await self.safety.screen_offsets(cluster, planned)
        names = tuple(sorted({entry.group_id for entry in planned.items}))
        if self._topics == () or not names:
            return planned.with_items(planned.items)
        from kgroups.admin.query.describe import describe

        from .internal_topics import with_topics

        groups = await describe(cluster, Selection(names))
        return await with_topics(cluster, planned.with_failures(groups.failures), groups.items, self._topics)

    def row(self, item: PlannedOffset | TopicDeletion, result: ResultAndError = NOT_EXECUTED) -> Any:
        return reset_topic_row(item, result) if isinstance(item, TopicDeletion) else reset_row(item, result)

    def question(self, planned: Sequence[PlannedOffset | TopicDeletion]) -> str:
        offsets = [each for each in planned if isinstance(each, PlannedOffset)]
        topics = len(planned) - len(offsets)
        more = f", and permanently delete {count(topics, 'internal topic')}," if topics else ""
        groups = len({entry.group_id for entry in offsets})
        return f"Write {count(len(offsets), 'offset')} of {count(groups, 'group')}{more}"

    async def apply(
        self, cluster: Cluster, planned: Sequence[PlannedOffset | TopicDeletion], undo: UndoFile
    ) -> Outcome[Any]:
        offsets = [each for each in planned if isinstance(each, PlannedOffset)]
        topics = [each for each in planned if isinstance(each, TopicDeletion)]
        applied = await self.write(cluster, offsets, undo)
        rows = applied.with_items(
            reset_row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items
        )
        if not topics:
            return rows
        from .internal_topics import delete_topics

        failed = {each.planned.group_id for each in applied.items if each.result is not Result.APPLIED}
        done = {entry.group_id for entry in offsets} - failed
        more, failures = await delete_topics(cluster, topics, done, reset_topic_row, undo.stop)
        return rows.with_items((*rows.items, *more)).with_failures(failures)
