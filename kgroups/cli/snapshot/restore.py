"""``kgroups snapshot restore``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.snapshot.file import read_snapshot
from kgroups.admin.snapshot.restore import Restore, committed_since, plan_restore, plan_restore_settings
from kgroups.errors import UsageError
from kgroups.model.operations.origin import Mismatch
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Outcome, Result
from kgroups.model.settings.change import PlannedSetting
from kgroups.model.snapshot.snapshot import Snapshot
from kgroups.model.topic_scope import parse_topic_scope
from kgroups.model.views.operation_rows import NOT_EXECUTED, ResetRow, ResultAndError, reset_row
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import RESET_OFFSETS

from ..change.apply_plan import apply_plan
from ..change.change_settings import SettingsOperation
from ..change.confirmation import Confirmation
from ..change.plan_source import chosen_groups
from ..change.reset import OffsetOperation
from ..change.safety import Safety
from ..change.undo_file import UndoFile
from ..frame.options import ConnectionOptions
from ..frame.output import Shape
from ..frame.selected_groups import GroupOptions


def restore(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    accepted: tuple[str, ...],
    safety: Safety,
    chosen: GroupOptions,
    topics: tuple[str, ...],
    create_group: bool,
    exact: bool,
    with_settings: bool,
    file: Path,
) -> int:
    """Run ``kgroups snapshot restore``; return the exit code."""
    if with_settings and (topics or create_group or "topic" in accepted or safety != Safety()):
        raise UsageError(
            "--settings cannot be combined with --topic, --create-group, --accept-mismatch topic, --force, "
            "--commit-window, or --when-empty: they are about offsets"
        )
    safety = safety.of(confirmation, connection)
    selection = chosen.selection() if chosen.any_given else None
    scope = parse_topic_scope(topics) if topics else None
    snapshot = read_snapshot(file)
    groups = _groups(snapshot, file, selection)
    mismatches = frozenset(map(Mismatch, accepted))
    request = Restore(snapshot, str(file), groups, scope, mismatches, create=create_group, exact=exact)
    restores = RestoreSettings(request, undo_file) if with_settings else RestoreOffsets(request, safety, undo_file)
    return apply_plan(connection, shape, confirmation, restores)


@dataclass
class RestoreOffsets(OffsetOperation[PlannedOffset]):
    """The restore of offsets."""

    view = RESET_OFFSETS
    verb = "Write"
    selection = None

    request: Restore
    safety: Safety
    undo_path: Path | None

    async def plan(self, cluster: Cluster) -> Outcome[PlannedOffset]:
        planned = await self.safety.plan(cluster, lambda: plan_restore(cluster, self.request))
        return await self.safety.screen_offsets(cluster, planned)

    def row(self, item: PlannedOffset, result: ResultAndError = NOT_EXECUTED) -> ResetRow:
        return reset_row(item, result)

    async def apply(self, cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile) -> Outcome[ResetRow]:
        applied = await self.write(cluster, planned, undo)
        written = [each.planned for each in applied.items if each.result is Result.APPLIED]
        late = await committed_since(cluster, self.request, written) if self.request.exact else []
        return self.rows(applied).with_failures(late)


@dataclass
class RestoreSettings(SettingsOperation):
    """The restore of settings."""

    selection = None

    request: Restore
    undo_path: Path | None

    async def plan(self, cluster: Cluster) -> Outcome[PlannedSetting]:
        return await plan_restore_settings(cluster, self.request)


def _groups(snapshot: Snapshot, file: Path, selection: Selection | None) -> Mapping[str, None]:
    """Return the selected groups of the file.

    :raises UsageError: if it has no group of a name or pattern.
    """
    names = snapshot.names
    selection = selection.settled(frozenset(names)) if selection else None
    for failure in selection.unmatched_globs(names) if selection else ():
        raise UsageError(f"{file}: no group matches {failure.name!r}")
    snapshot.check_names(selection.names if selection else (), str(file))
    found = chosen_groups(names, selection)
    if not found:
        raise UsageError(f"{file}: no group is selected" if names else f"{file}: the snapshot contains no groups")
    return found
