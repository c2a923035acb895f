"""``kgroups delete-offsets``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError
from kgroups.model.counts import count

from .change.apply_plan import apply_plan
from .change.confirmation import Confirmation, confirmation_options
from .change.operation import Operation
from .change.reset_request import write_offsets
from .change.safety import Safety, safety_options
from .change.undo_file import UndoFile, undo_option
from .frame.group_options import GroupOptions, complete_topic, group_options
from .frame.lazy_command import Command
from .frame.options import ConnectionOptions, fleet_change_options, output_options
from .frame.run_query import Shape

if TYPE_CHECKING:
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.outcome import Outcome
    from kgroups.net.cluster import Cluster


@click.command("delete-offsets", cls=Command)
@group_options
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC[:0,2-5]",
    help="Topic whose committed offsets are deleted, or some of its partitions. Repeatable.",
    shell_complete=complete_topic,
)
@safety_options
@confirmation_options
@undo_option
@output_options
@fleet_change_options
def delete_offsets(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    safety: Safety,
    chosen: GroupOptions,
    topics: tuple[str, ...],
) -> int:
    """Delete committed offsets of topics.

    The group may have members if none of them is subscribed to the topics. Requires Kafka 2.4. The old offsets are
    first saved to an undo file, from which reset-offsets --from-file restores them.
    """
    from kgroups.model.topic_scope import parse_topic_scope

    if not topics:
        raise UsageError("no topic selected: use --topic TOPIC[:0,2-5]")
    scope = parse_topic_scope(topics)
    safety.check(confirmation, connection)
    selection = chosen.selection()
    from kgroups.admin.change.delete_offsets import plan_delete_offsets
    from kgroups.admin.query.describe import describe
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.groups import GroupState
    from kgroups.model.views.operation_rows import delete_offset_row, result_and_error
    from kgroups.render.act_views import DELETE_OFFSETS

    async def plan(cluster: Cluster) -> Outcome[PlannedOffset]:
        planned = await safety.plan(cluster, lambda: plan_delete_offsets(cluster, selection, scope))
        names = tuple(sorted({entry.group_id for entry in planned.items}))
        groups = (await describe(cluster, Selection(names))).items if names else ()
        members = [group.group_id for group in groups if group.state not in GroupState.WITHOUT_MEMBERS]
        return await safety.screen_offsets(cluster, planned, execute=confirmation.execute, members=members)

    async def apply(cluster: Cluster, planned: Sequence[PlannedOffset], undo: UndoFile) -> Outcome[Any]:
        applied = await write_offsets(
            cluster, planned, undo, force=safety.force, with_members=True, together=safety.together
        )
        rows = (delete_offset_row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items)
        return applied.with_items(rows)

    def question(planned: Sequence[PlannedOffset]) -> str:
        groups = len({entry.group_id for entry in planned})
        return f"Delete {count(len(planned), 'offset')} of {count(groups, 'group')}"

    operation = Operation(DELETE_OFFSETS, plan, delete_offset_row, question, apply, selection, undo_file)
    return apply_plan(connection, shape, confirmation, operation)
