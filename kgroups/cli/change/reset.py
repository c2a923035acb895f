"""The operations that write offsets or delete them: what the commands share, and the reset itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.describe import describe
from kgroups.admin.query.select_groups import Selection
from kgroups.model.counts import count, some
from kgroups.model.groups import GroupType
from kgroups.model.operations.reset import FromPlan, PlannedOffset
from kgroups.model.operations.results import AppliedOffset, TopicDeletion
from kgroups.model.operations.skip import skip_notices
from kgroups.model.outcome import Outcome, Result
from kgroups.model.views.operation_rows import (
    NOT_EXECUTED,
    ResultAndError,
    reset_row,
    reset_topic_row,
)
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import RESET_OFFSETS

from .operation import Operation, P, split_topics
from .safety import Safety

if TYPE_CHECKING:
    from .undo_file import UndoFile


def _share_notices(planned: Iterable[PlannedOffset]) -> list[str]:
    """Return what brokers do to share groups whose start offsets are written, also if these are the same."""
    groups = sorted({entry.group for entry in planned if entry.kind == GroupType.SHARE})
    if not groups:
        return []
    which = f"group '{groups[0]}'" if len(groups) == 1 else f"{count(len(groups), 'share group')}: {some(groups)}"
    return [
        f"{which}: brokers delete the states of records after the new offset, and deliver processed ones again; an "
        "undo does not change that"
    ]


class OffsetOperation(Operation[P]):
    """An operation on committed offsets, with the safety options."""

    safety: Safety
    item = "offset"

    async def write(
        self, cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile, *, with_members: bool = False
    ) -> Outcome[AppliedOffset]:
        """Write planned offsets; return a result for each, also for those of groups left alone."""
        from kgroups.admin.change.apply.write_in_chunks import write_in_chunks  # a dry run does not write

        force, together = self.safety.force, self.safety.together
        return await write_in_chunks(cluster, planned, undo, force=force, with_members=with_members, together=together)


@dataclass
class Reset(OffsetOperation[PlannedOffset | TopicDeletion]):
    """A reset, and the deletion of internal topics of the streams groups that were reset.

    ``notices``: about the request. ``topics``: the internal topics to delete; ``None``: all.
    """

    view = RESET_OFFSETS
    verb = "Write"

    request: ResetRequest
    safety: Safety
    notices: Sequence[str] = ()
    topics: tuple[str, ...] | None = ()
    undo_path: Path | None = None

    def __post_init__(self) -> None:
        self.selection = self.request.selection
        scenario = self.request.scenario
        if isinstance(scenario, FromPlan) and scenario.exact and scenario.origin:
            self.undoes = scenario.origin.undone

    async def plan(self, cluster: Cluster) -> Outcome[PlannedOffset | TopicDeletion]:
        planned = await self.safety.plan(cluster, lambda: plan_reset(cluster, self.request))
        skipped = skip_notices((entry.key, entry.skipped) for entry in planned.items)
        planned = planned.with_failures((), (*self.notices, *skipped, *_share_notices(planned.items)))
        # An undo is screened, too: an unchanged offset does not prove that commits ended, because a client with nothing
        # to read commits the same offset again, and an undo file contains no commit times.
        planned = await self.safety.screen_offsets(cluster, planned)
        names = tuple(sorted({entry.group for entry in planned.items}))
        if self.topics == () or not names:
            return planned.with_items(planned.items)
        from .internal_topics import with_topics

        groups = await describe(cluster, Selection(names))
        return await with_topics(cluster, planned.with_failures(groups.failures), groups.items, self.topics)

    def row(self, item: PlannedOffset | TopicDeletion, result: ResultAndError = NOT_EXECUTED) -> Any:
        return reset_topic_row(item, result) if isinstance(item, TopicDeletion) else reset_row(item, result)

    def question(self, planned: Sequence[PlannedOffset | TopicDeletion]) -> str:
        offsets, topics = split_topics(planned)
        more = f", and permanently delete {count(len(topics), 'internal topic')}," if topics else ""
        return f"{super().question(offsets)}{more}"

    async def apply(
        self, cluster: Cluster, planned: Sequence[PlannedOffset | TopicDeletion], undo: UndoFile
    ) -> Outcome[Any]:
        offsets, topics = split_topics(planned)
        applied = await self.write(cluster, offsets, undo)
        rows = self.rows(applied)
        if not topics:
            return rows
        from .internal_topics import delete_topics

        failed = {each.planned.group for each in applied.items if each.result is not Result.APPLIED}
        done = {entry.group for entry in offsets} - failed
        more, failures = await delete_topics(cluster, topics, done, reset_topic_row, undo.stop)
        return rows.with_items((*rows.items, *more)).with_failures(failures)
