"""``kgroups delete``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError

from .answer import Shape
from .confirm import Consent, consent_options
from .options import Connection, Duration, connection_options, output_options
from .perform import Act, perform
from .undo_file import check_free, undo_option, write_undo
from .which_groups import Chosen, group_options

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.acts import DoomedGroup


@click.command("delete")
@group_options
@click.option(
    "--empty-for",
    type=Duration(),
    metavar="DURATION",
    help="Refused: no Kafka tells since when a group is empty; kgroups history stale does.",
)
@consent_options
@undo_option
@output_options
@connection_options
def delete(
    connection: Connection,
    shape: Shape,
    consent: Consent,
    undo_file: Path | None,
    empty_for: float | None,
    chosen: Chosen,
) -> int:
    """Delete groups that have no members, with their offsets.

    Shows what would go; --execute deletes it. The offsets are kept in a file first, from which reset-offsets
    --from-file makes the groups again.
    """
    if empty_for is not None:
        raise UsageError(
            "--empty-for: Kafka's API does not tell since when a group is empty; kgroups history stale tells it from "
            "the records of __consumer_offsets"
        )
    selection = chosen.selection()
    check_free(undo_file)
    from kgroups.admin.delete_groups import still_as_shown
    from kgroups.admin.select_groups import Selection
    from kgroups.model.act_rows import delete_row, told
    from kgroups.model.acts import Result
    from kgroups.model.outcome import Outcome
    from kgroups.model.plan_file import json_undo
    from kgroups.render.act_views import DELETE

    async def plan(admin: GroupAdmin) -> Outcome[DoomedGroup]:
        return await admin.plan_delete(selection)

    async def do(admin: GroupAdmin, planned: Sequence[DoomedGroup], old: bool) -> Outcome[Any]:
        names = tuple(doomed.group.group_id for doomed in planned)
        fresh = Outcome(tuple(planned))
        checked = still_as_shown(planned, await admin.plan_delete(Selection(names))) if old else fresh
        offsets = [entry for doomed in checked.items for entry in doomed.as_plan()]
        if offsets:
            write_undo(undo_file, sorted({entry.group_id for entry in offsets}), json_undo(offsets))
        deleted = await admin.delete_groups([doomed.group.group_id for doomed in checked.items])
        results = {each.group_id: told(each.result, each.failure) for each in deleted.items}
        results.update({each.name: told(Result.FAILED, each) for each in checked.failures})
        rows = (delete_row(doomed, results.get(doomed.group.group_id, told(Result.FAILED, None))) for doomed in planned)
        return deleted.with_items(rows).with_failures(checked.failures)

    def question(planned: Sequence[DoomedGroup]) -> str:
        return f"Delete {len(planned):,} groups, with {sum(len(each.commits) for each in planned):,} offsets?"

    return perform(connection, shape, consent, Act(DELETE, plan, delete_row, question, do))
