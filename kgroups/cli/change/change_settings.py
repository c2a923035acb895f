"""The operations of ``settings set``, ``settings unset``, and ``snapshot restore --settings``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kgroups.admin.change.apply.alter_settings import alter_in_chunks, plan_settings
from kgroups.admin.query.select_groups import Selection
from kgroups.model.counts import count
from kgroups.model.operations.origin import Source
from kgroups.model.outcome import Outcome
from kgroups.model.settings.change import DesiredSettings, PlannedSetting, setting_change_row
from kgroups.model.settings.undo import undo_lines
from kgroups.model.views.operation_rows import NOT_EXECUTED, ResultAndError, result_and_error
from kgroups.net.cluster import Cluster
from kgroups.render.settings_views import SETTING_CHANGES

from ..frame.options import ConnectionOptions
from .operation import Operation
from .undo_file import UndoFile


class SettingsUndoFile(UndoFile):
    """An undo file with settings."""

    what = "settings"
    command = ("settings", "set")

    async def _source(self, cluster: Cluster, planned: Sequence[Any]) -> Source:
        return Source(cluster_id=cluster.cluster_id)

    def _lines(self, planned: Sequence[Any], source: Source) -> Iterator[str]:
        return undo_lines(planned, source)

    def _records(self, planned: Sequence[Any], source: Source) -> Iterator[str]:
        return iter(())


class SettingsOperation(Operation[PlannedSetting]):
    """A change of settings; its subclass plans it."""

    view = SETTING_CHANGES

    def row(self, item: PlannedSetting, result: ResultAndError = NOT_EXECUTED) -> Any:
        return setting_change_row(item, result)

    def question(self, planned: Sequence[PlannedSetting]) -> str:
        groups = len({each.group_id for each in planned})
        return f"Change {count(len(planned), 'setting')} of {count(groups, 'group')}"

    async def apply(self, cluster: Cluster, planned: Sequence[PlannedSetting], undo: UndoFile) -> Outcome[Any]:
        applied = await alter_in_chunks(cluster, planned, undo)
        rows = (setting_change_row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items)
        return applied.with_items(rows)

    def undo_file(self, path: Path | None, connection: ConnectionOptions, **rest: Any) -> UndoFile:
        return SettingsUndoFile(path, connection, **rest)


class ChangeSettings(SettingsOperation):
    """The change of settings to desired values."""

    def __init__(
        self,
        selection: Selection,
        desired: DesiredSettings,
        undo_path: Path | None = None,
        notices_on: Callable[[str | None], Sequence[str]] = lambda _: (),
    ) -> None:
        """Create a change.

        :param notices_on: returns the notices about a cluster.
        """
        super().__init__(selection, undo_path)
        self._selection = selection
        self._desired = desired
        self._notices_on = notices_on

    async def plan(self, cluster: Cluster) -> Outcome[PlannedSetting]:
        notices = self._notices_on(cluster.cluster_id)
        planned = await plan_settings(cluster, self._selection, self._desired)
        return planned.with_failures((), notices)
