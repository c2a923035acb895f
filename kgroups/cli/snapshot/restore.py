"""``kgroups snapshot restore``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError
from kgroups.model.counts import count

from ..change.apply_plan import apply_plan
from ..change.change_settings import apply_settings
from ..change.confirmation import Confirmation, confirmation_options
from ..change.operation import Operation
from ..change.plan_source import chosen_groups
from ..change.reset_request import write_reset
from ..change.safety import Safety, safety_options
from ..change.undo_file import UndoFile, undo_option
from ..frame.group_options import GroupOptions, complete_topic, plain_group_options
from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, connection_options, output_options
from ..frame.run_query import Shape

if TYPE_CHECKING:
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.outcome import Outcome
    from kgroups.model.snapshot.snapshot import Snapshot
    from kgroups.net.cluster import Cluster


@click.command("restore", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@plain_group_options
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC[:PARTITIONS]",
    help="Restore all partitions of a topic, or some. Repeatable.",
    shell_complete=complete_topic,
)
@click.option("--create-group", is_flag=True, help="Create the groups that do not exist any more.")
@click.option(
    "--exact",
    is_flag=True,
    help="Also delete committed offsets of these groups that are not in the file.",
)
@click.option(
    "--settings",
    "with_settings",
    is_flag=True,
    help="Restore the settings of the groups, their dynamic configuration, instead of their offsets. With --exact, "
    "also remove values that are not in the file.",
)
@safety_options
@confirmation_options
@undo_option
@click.option(
    "--accept-mismatch",
    "accepted",
    multiple=True,
    type=click.Choice(["cluster", "topic"]),
    help="Restore even if the file belongs to another cluster (cluster), or if a topic was recreated or an offset is "
    "beyond the log end (topic). Repeatable.",
)
@output_options
@connection_options
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
    """Restore committed offsets, or settings, from a snapshot.

    Shows the plan; --execute applies it. Restores offsets, leader epochs, and metadata exactly, by default of all
    groups in the file. Groups with members are rejected, and the others are restored. The old offsets are first saved
    to an undo file. Members are not restored; the plan names settings that differ.

    With --settings, the settings that were set for the groups are restored instead, also of groups with members, and
    the old settings are saved to an undo file, from which settings set --from-file restores them.
    """
    from kgroups.admin.snapshot.file import read_snapshot
    from kgroups.admin.snapshot.restore import Restore, committed_since, plan_restore, plan_restore_settings
    from kgroups.model.operations.origin import Mismatch
    from kgroups.model.outcome import Result
    from kgroups.model.topic_scope import parse_topic_scope
    from kgroups.model.views.operation_rows import reset_row
    from kgroups.render.act_views import RESET_OFFSETS

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
