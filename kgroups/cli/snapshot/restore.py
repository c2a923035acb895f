"""``kgroups snapshot restore``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.snapshot.file import read_snapshot
from kgroups.admin.snapshot.restore import Restore, committed_since, plan_restore, plan_restore_settings
from kgroups.errors import UsageError
from kgroups.model.counts import count
from kgroups.model.operations.origin import Mismatch
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Outcome, Result
from kgroups.model.snapshot.snapshot import Snapshot
from kgroups.model.topic_scope import parse_topic_scope
from kgroups.model.views.operation_rows import reset_row
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import RESET_OFFSETS

from ..change.apply_plan import apply_plan
from ..change.change_settings import apply_settings
from ..change.confirmation import Confirmation
from ..change.operation import Operation
from ..change.plan_source import chosen_groups
from ..change.reset_request import write_reset
from ..change.safety import Safety
from ..change.undo_file import UndoFile
from ..frame.group_options import GroupOptions
from ..frame.options import ConnectionOptions
from ..frame.run_query import Shape


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
    safety.check(confirmation, connection)
    selection = chosen.selection() if chosen.any_given else None
    scope = parse_topic_scope(topics) if topics else None
    snapshot = read_snapshot(file)
    request = Restore(
        snapshot,
        str(file),
        _groups(snapshot, file, selection),
        scope,
        frozenset(map(Mismatch, accepted)),
        create=create_group,
        exact=exact,
    )

    if with_settings:
        return apply_settings(
            connection, shape, confirmation, undo_file, lambda cluster: plan_restore_settings(cluster, request)
        )

    async def plan(cluster: Cluster) -> Outcome[PlannedOffset]:
        planned = await safety.plan(cluster, lambda: plan_restore(cluster, request))
        return await safety.screen_offsets(cluster, planned, execute=confirmation.execute)

    async def apply(cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile) -> Outcome[Any]:
        applied, rows = await write_reset(cluster, planned, undo, safety)
        written = [each.planned for each in applied.items if each.result is Result.APPLIED]
        late = await committed_since(cluster, request, written) if exact else []
        return applied.with_items(rows).with_failures(late)

    def question(planned: Sequence[PlannedOffset]) -> str:
        groups = len({entry.group_id for entry in planned})
        return f"Write {count(len(planned), 'offset')} of {count(groups, 'group')}"

    operation = Operation(RESET_OFFSETS, plan, reset_row, question, apply, undo_path=undo_file)
    return apply_plan(connection, shape, confirmation, operation)


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
