"""Internal topics of streams groups in acts on these groups: planned with them, and deleted last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .group_options import complete_topic

if TYPE_CHECKING:
    from kgroups.admin.change.interruption import Interruption
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.operations.results import TopicDeletion
    from kgroups.model.outcome import Outcome
    from kgroups.model.views.operation_rows import ResultAndError

F = TypeVar("F", bound=Callable[..., Any])

all_internal_topics_option = click.option(
    "--delete-all-internal-topics",
    "all_internal",
    is_flag=True,
    help="Also delete the changelog and repartition topics of streams groups. This cannot be undone.",
)
internal_topic_option = click.option(
    "--delete-internal-topic",
    "internal",
    multiple=True,
    metavar="TOPIC",
    help="Also delete this internal topic of a streams group. Repeatable. This cannot be undone.",
    shell_complete=complete_topic,
)


async def exclude_shared_topics(admin: GroupAdmin, doomed: Outcome[TopicDeletion]) -> Outcome[TopicDeletion]:
    """The topics without those that may belong to another existing group; asks which groups exist."""
    if not doomed.items:
        return doomed
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.model.operations.internal_topics import without_others

    listed = await admin.list_groups(ListFilter())
    names = (group.group_id for group in listed.items)
    return without_others(doomed, names).with_failures(listed.failures, listed.notices)


async def delete_topics(
    admin: GroupAdmin,
    doomed: Sequence[TopicDeletion],
    done: Iterable[str],
    row: Callable[[TopicDeletion, ResultAndError], Any],
    stop: Interruption,
) -> tuple[list[Any], list[Any]]:
    """Deletes the topics of those groups that were ``done`` with; a row for each topic, and the failures."""
    from kgroups.admin.port.capabilities import TOPIC_DELETION
    from kgroups.model.operations.results import DeletedTopic
    from kgroups.model.outcome import Failure, Outcome, Result, Scope
    from kgroups.model.views.operation_rows import result_and_error

    reached = set(done)
    going = [each for each in doomed if each.group.group_id in reached]
    begun = stop.signal is None
    deleted = await stop.bound(TOPIC_DELETION.of(admin).delete_topics(going))
    if deleted is None:
        result, why = (Result.UNKNOWN, stop.unanswered) if begun else (Result.FAILED, stop.not_sent)
        names = [(each.group.group_id, each.topic) for each in going]
        deleted = Outcome(
            tuple(DeletedTopic(*each, result, why(each[1])._replace(scope=Scope.TOPIC)) for each in names)
        )
    results = {
        (each.group_id, each.topic): (result_and_error(each.result, each.failure), each.failure)
        for each in deleted.items
    }
    rows, failures = [], []
    for each in doomed:
        key = (each.group.group_id, each.topic)
        if key not in results:
            message = f"kept: group '{key[0]}' was not changed successfully"
            results[key] = ((Result.FAILED.value, message), Failure(Scope.TOPIC, each.topic, message))
        said, failure = results[key]
        rows.append(row(each, said))
        if failure:
            failures.append(failure)
    return rows, failures
