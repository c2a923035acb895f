"""``kgroups snapshot``: save the state of groups, show it, compare it, and restore it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from kgroups.admin.snapshot.file import check_writable, read_snapshot, write_snapshot
from kgroups.admin.snapshot.restore import Restore, committed_since, plan_restore, plan_restore_settings
from kgroups.admin.snapshot.take import missing_topic
from kgroups.errors import Reason, UsageError
from kgroups.model.operations.origin import Mismatch
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import NO_MATCH, Failure, Outcome, Result, Scope
from kgroups.model.settings.change import PlannedSetting
from kgroups.model.snapshot.rows import config_rows, snapshot_row
from kgroups.model.topic_scope import parse_topic_scope
from kgroups.model.views.member_rows import member_rows
from kgroups.model.views.offsets import offset_rows
from kgroups.model.views.operation_rows import NOT_EXECUTED, ResetRow, ResultAndError, reset_row
from kgroups.model.views.summary_row import summary_row
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import RESET_OFFSETS
from kgroups.render.member_views import MEMBERS
from kgroups.render.offset_view import OFFSETS
from kgroups.render.snapshot_views import CONFIGS, SNAPSHOT
from kgroups.render.summary_view import SUMMARY

from .change.apply_plan import apply_plan
from .change.change_settings import SettingsOperation
from .change.confirmation import Confirmation
from .change.plan_source import chosen_in_snapshot
from .change.reset import OffsetOperation
from .change.safety import Safety
from .change.undo_file import UndoFile
from .frame.options import ConnectionOptions, check_exclusive
from .frame.output import Shape, show
from .frame.selected_groups import GroupOptions
from .query.comparison import Side, file_side, show_differences
from .query.live_snapshot import live_snapshot


def save(
    connection: ConnectionOptions,
    shape: Shape,
    chosen: GroupOptions,
    file: Path,
    with_records: bool,
    overwrite: bool,
) -> int:
    """Run ``kgroups snapshot save``; return the exit code."""
    selection = chosen.selection(all_by_default=True)
    shape.check(SNAPSHOT)
    check_writable(file, overwrite=overwrite)
    taken = live_snapshot(connection.settings, shape, SNAPSHOT, selection, records=with_records, debug=connection.debug)
    (found,) = taken.items
    if not found.groups and (taken.failures or (chosen.any_given and not chosen.all_groups)):
        reason = taken.failures or (Failure(Scope.CLUSTER, "", NO_MATCH, reason=Reason.NO_MATCH),)
        nothing: Outcome[Any] = Outcome(
            (), reason, (f"nothing was saved: {connection.cluster(found.source.cluster_id)}",)
        )
        return show(nothing, found.source.cluster_id, shape, SNAPSHOT)
    write_snapshot(file, found)
    notices = [notice for notice in taken.notices if notice != NO_MATCH]
    if found.failures:
        notices.append(f"{file} is partial: what failed is recorded in it")
    rows = taken.with_items((snapshot_row(found),))._replace(notices=tuple(notices))
    return show(rows, found.source.cluster_id, shape, SNAPSHOT)


def show_snapshot(shape: Shape, file: Path, groups: bool, offsets: bool, members: bool, configs: bool) -> int:
    """Run ``kgroups snapshot show``; return the exit code."""
    check_exclusive(groups=groups, offsets=offsets, members=members, configs=configs)
    view = SUMMARY if groups else OFFSETS if offsets else MEMBERS if members else CONFIGS if configs else SNAPSHOT
    shape.check(view)
    found = read_snapshot(file)
    rows: Iterable[Any]
    if groups:
        rows = map(summary_row, found.groups)
    elif offsets:
        rows = chain.from_iterable(map(offset_rows, found.groups))
    elif members:
        rows = chain.from_iterable(member_rows(each.group) for each in found.groups)
    else:
        rows = config_rows(found) if configs else (snapshot_row(found),)
    notices = [missing_topic(topic) for topic in sorted(found.missing_topics)]
    if found.failures:
        notices.append(f"{file} is partial: what follows could not be read when it was saved")
    return show(Outcome(tuple(rows), found.failures, tuple(notices)), found.source.cluster_id, shape, view)


def diff(
    connection: Callable[[], ConnectionOptions],
    shape: Shape,
    only: tuple[str, ...],
    groups: tuple[str, ...],
    regex: str | None,
    file: Path,
    other: Path | None,
) -> int:
    """Run ``kgroups snapshot diff``; return the exit code."""
    first = file_side(file)
    debug = False
    if other is None:
        options = connection()
        debug = options.debug
        second = Side(options.settings.bootstrap_servers, settings=options.settings)
    else:
        second = file_side(other)
    return show_differences((first, second), shape, only, GroupOptions((), groups, regex, False), debug=debug)


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
    groups = chosen_in_snapshot(snapshot, file, selection)
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
