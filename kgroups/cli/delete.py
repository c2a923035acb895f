"""``kgroups delete``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError
from kgroups.model.counts import count

from .answer import Shape
from .confirm import Consent, consent_options
from .internal_topics import all_internal_topics_option, delete_topics
from .options import Connection, Duration, connection_options, output_options
from .perform import Act, perform
from .undo_file import UndoFile, undo_option
from .which_groups import Chosen, group_options

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.acts import DoomedGroup, DoomedTopic
    from kgroups.model.outcome import Outcome


@click.command("delete")
@group_options
@click.option(
    "--empty-for",
    type=Duration(),
    metavar="DURATION",
    help="Refused: no Kafka tells since when a group is empty; kgroups history stale does.",
)
@all_internal_topics_option
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
    all_internal: bool,
    chosen: Chosen,
) -> int:
    """Delete groups that have no members, with their offsets.

    Shows what would go; --execute deletes it. The offsets are kept in a file first, from which reset-offsets
    --from-file makes the groups again. Internal topics of streams groups stay, unless they are to go as well.
    """
    if empty_for is not None:
        raise UsageError(
            "--empty-for: Kafka's API does not tell since when a group is empty; kgroups history stale tells it from "
            "the records of __consumer_offsets"
        )
    selection = chosen.selection()
    undo = UndoFile(undo_file, connection.given())
    from kgroups.admin.delete_groups import still_as_shown
    from kgroups.admin.select_groups import Selection
    from kgroups.model.act_rows import delete_row, delete_topic_row, told
    from kgroups.model.acts import DoomedGroup, DoomedTopic, Result
    from kgroups.model.outcome import Outcome
    from kgroups.model.plan_file import json_undo
    from kgroups.render.act_views import DELETE

    async def plan(admin: GroupAdmin) -> Outcome[DoomedGroup | DoomedTopic]:
        return _with_topics(await admin.plan_delete(selection), all_internal)

    async def do(admin: GroupAdmin, planned: Sequence[DoomedGroup | DoomedTopic], old: bool) -> Outcome[Any]:
        groups = [doomed for doomed in planned if isinstance(doomed, DoomedGroup)]
        topics = [doomed for doomed in planned if isinstance(doomed, DoomedTopic)]
        names = tuple(doomed.group.group_id for doomed in groups)
        fresh = Outcome(tuple(groups))
        checked = still_as_shown(groups, await admin.plan_delete(Selection(names))) if old else fresh
        offsets = [entry for doomed in checked.items for entry in doomed.as_plan()]
        if offsets:
            undo.write(sorted({entry.group_id for entry in offsets}), json_undo(offsets))
        deleted = await admin.delete_groups([doomed.group.group_id for doomed in checked.items])
        results = {each.group_id: told(each.result, each.failure) for each in deleted.items}
        results.update({each.name: told(Result.FAILED, each) for each in checked.failures})
        rows = [delete_row(doomed, results.get(doomed.group.group_id, told(Result.FAILED, None))) for doomed in groups]
        gone = [each.group_id for each in deleted.items if each.result is Result.APPLIED]
        more, failures = await delete_topics(admin, topics, gone, delete_topic_row) if topics else ([], [])
        return deleted.with_items((*rows, *more)).with_failures((*checked.failures, *failures))

    def row(doomed: DoomedGroup | DoomedTopic) -> Any:
        return delete_topic_row(doomed) if isinstance(doomed, DoomedTopic) else delete_row(doomed)

    def question(planned: Sequence[DoomedGroup | DoomedTopic]) -> str:
        groups = [each for each in planned if isinstance(each, DoomedGroup)]
        topics = len(planned) - len(groups)
        more = f", and permanently {count(topics, 'internal topic')}," if topics else ""
        offsets = sum(len(each.commits) for each in groups)
        return f"Delete {count(len(groups), 'group')} with {count(offsets, 'offset')}{more}"

    return perform(connection, shape, consent, Act(DELETE, plan, row, question, do, undo))


def _with_topics(planned: Outcome[DoomedGroup], all_internal: bool) -> Outcome[DoomedGroup | DoomedTopic]:
    """The groups, and where they are to go too, behind them their internal topics; else it is said that these stay."""
    from kgroups.model.groups import GroupType

    groups = [doomed.group for doomed in planned.items if doomed.group.type == GroupType.STREAMS]
    whole: Outcome[DoomedGroup | DoomedTopic] = planned.with_items(planned.items)
    if not groups:
        return whole
    from kgroups.model.internal_topics import NO_WAY_BACK, doomed_topics, kept_remarks

    if not all_internal:
        return whole.with_failures((), kept_remarks(groups))
    topics = doomed_topics(groups)
    items: list[DoomedGroup | DoomedTopic] = [*planned.items, *topics.items]
    return planned.with_items(items).with_failures(topics.failures, (NO_WAY_BACK,) if topics.items else ())
