"""The operations of ``settings set``, ``settings unset``, and ``snapshot restore --settings``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgroups.admin.change.apply.alter_settings import alter_in_chunks, plan_settings
from kgroups.admin.query.select_groups import Selection
from kgroups.model.operations.origin import Source
from kgroups.model.outcome import Outcome
from kgroups.model.settings.change import DesiredSettings, PlannedSetting, setting_change_row
from kgroups.model.settings.undo import undo_lines
from kgroups.model.views.operation_rows import NOT_EXECUTED, ResultAndError
from kgroups.net.cluster import Cluster
from kgroups.render.settings_views import SETTING_CHANGES

from ..frame.options import ConnectionOptions
from .operation import Operation
from .undo_file import UndoFile


class SettingsUndoFile(UndoFile):
    """An undo file with settings."""

    what = "settings"

    async def _source(self, cluster: Cluster, planned: Sequence[Any]) -> Source:
        return Source(cluster_id=cluster.cluster_id)

    def _lines(self, planned: Sequence[Any], source: Source) -> Iterator[str]:
        return undo_lines(planned, source)

    def _records(self, planned: Sequence[Any], source: Source) -> Iterator[str]:
        return iter(())


class SettingsOperation(Operation[PlannedSetting]):
    """A change of settings; its subclass plans it."""

    view = SETTING_CHANGES
    verb = "Change"
    item = "setting"

    def row(self, item: PlannedSetting, result: ResultAndError = NOT_EXECUTED) -> Any:
        return setting_change_row(item, result)

    async def apply(self, cluster: Cluster, planned: Sequence[PlannedSetting], undo: UndoFile) -> Outcome[Any]:
        return self.rows(await alter_in_chunks(cluster, planned, undo))

    def undo_file(self, path: Path | None, connection: ConnectionOptions, **rest: Any) -> UndoFile:
        return SettingsUndoFile(path, connection, undoes=self.undoes, **rest)


@dataclass
class ChangeSettings(SettingsOperation):
    """The change of settings to desired values.

    ``notices_on``: returns the notices about a cluster.
    """

    selection: Selection
    desired: DesiredSettings
    undo_path: Path | None = None
    notices_on: Callable[[str | None], Sequence[str]] = lambda _: ()
    undoes: str | None = None

    async def plan(self, cluster: Cluster) -> Outcome[PlannedSetting]:
        notices = self.notices_on(cluster.cluster_id)
        planned = await plan_settings(cluster, self.selection, self.desired)
        return planned.with_failures((), notices)
