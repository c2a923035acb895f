"""Change settings: what ``settings set``, ``settings unset``, and ``snapshot restore --settings`` share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kgroups.admin.change.apply.alter_settings import alter_in_chunks, plan_settings
from kgroups.admin.query.select_groups import Selection
from kgroups.model.counts import count
from kgroups.model.operations.origin import Source
from kgroups.model.outcome import Outcome
from kgroups.model.settings.change import DesiredSettings, PlannedSetting, setting_change_row
from kgroups.model.settings.undo import undo_lines
from kgroups.model.views.operation_rows import result_and_error
from kgroups.net.cluster import Cluster
from kgroups.render.settings_views import SETTING_CHANGES

from ..frame.options import ConnectionOptions
from ..frame.run_query import Shape
from .apply_plan import apply_plan
from .confirmation import Confirmation
from .operation import Operation
from .undo_file import UndoFile, UndoKind


def change_settings(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_path: Path | None,
    selection: Selection,
    desired: DesiredSettings,
    notices_on: Callable[[str | None], Sequence[str]] = lambda _: (),
) -> int:
    """Show the plan of a change, and with ``--execute`` apply it; return the exit code.

    :param notices_on: returns the notices about a cluster.
    """

    async def plan(cluster: Cluster) -> Outcome[PlannedSetting]:
        notices = notices_on(cluster.cluster_id)
        planned = await plan_settings(cluster, selection, desired)
        return planned.with_failures((), notices)

    return apply_settings(connection, shape, confirmation, undo_path, plan, selection)


def apply_settings(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_path: Path | None,
    plan: Callable[[Cluster], Awaitable[Outcome[PlannedSetting]]],
    selection: Selection | None = None,
) -> int:
    """Show a plan, and with ``--execute`` apply it; return the exit code.

    :param selection: the selected groups; if there are none, the reason is shown.
    """

    async def apply(cluster: Cluster, planned: Sequence[PlannedSetting], undo: UndoFile) -> Outcome[Any]:
        applied = await alter_in_chunks(cluster, planned, undo)
        rows = (setting_change_row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items)
        return applied.with_items(rows)

    def question(planned: Sequence[PlannedSetting]) -> str:
        groups = len({each.group_id for each in planned})
        return f"Change {count(len(planned), 'setting')} of {count(groups, 'group')}"

    operation = Operation(
        SETTING_CHANGES, plan, setting_change_row, question, apply, selection, undo_path, undo_kind=_UNDO
    )
    return apply_plan(connection, shape, confirmation, operation)


def _lines(planned: Sequence[PlannedSetting], source: Source) -> Iterator[str]:
    return undo_lines(planned, source)


async def _source(cluster: Cluster, _: Sequence[PlannedSetting]) -> Source:
    return Source(cluster_id=cluster.cluster_id)


_UNDO = UndoKind("settings", ("settings", "set"), _lines, _source)
