"""Delete internal topics of streams groups: planned with their groups, and deleted after these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from kgroups.admin.change.apply import delete_now
from kgroups.admin.change.apply.interruption import Interruption
from kgroups.admin.query.select_groups import Selection, list_selected
from kgroups.errors import Reason
from kgroups.model.groups import Group
from kgroups.model.operations.internal_topics import NOT_RESTORABLE, plan_topic_deletions, without_others
from kgroups.model.operations.results import DeletedTopic, TopicDeletion
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.model.views.operation_rows import ResultAndError, result_and_error
from kgroups.net.cluster import Cluster

P = TypeVar("P")


async def with_topics(
    cluster: Cluster, planned: Outcome[P], groups: Sequence[Group], named: tuple[str, ...] | None = None
) -> Outcome[P | TopicDeletion]:
    """Return the plan, followed by the internal topics to delete: the named ones, or all if ``named`` is ``None``.

    Topics that may belong to another existing group are left out; all groups are listed for that.
    """
    topics = plan_topic_deletions(groups, named)
    if topics.items:
        listed = await list_selected(cluster, Selection())
        topics = without_others(topics, (group.group for group in listed.items))
        topics = topics.with_failures(listed.failures, listed.notices)
    notices = (*topics.notices, *((NOT_RESTORABLE,) if topics.items else ()))
    items: list[P | TopicDeletion] = [*planned.items, *topics.items]
    return planned.with_items(items).with_failures(topics.failures, notices)


async def delete_topics(
    cluster: Cluster,
    planned: Sequence[TopicDeletion],
    done: Iterable[str],
    row: Callable[[TopicDeletion, ResultAndError], Any],
    stop: Interruption,
) -> tuple[list[Any], list[Any]]:
    """Delete the topics of the groups in ``done``; return a row for each topic, and the failures.

    :param done: the groups that were changed successfully; the topics of the others are kept.
    """
    changed = set(done)
    to_delete = [each for each in planned if each.group.group in changed]
    started = stop.signal is None
    deleted = await stop.bound(delete_now.delete_topics(cluster, to_delete))
    if deleted is None:
        result, reason = (Result.UNKNOWN, stop.unanswered) if started else (Result.FAILED, stop.not_sent)
        names = [(each.group.group, each.topic) for each in to_delete]
        deleted = Outcome(
            tuple(DeletedTopic(*each, result, reason(each[1])._replace(scope=Scope.TOPIC)) for each in names)
        )
    results = {
        (each.group, each.topic): (result_and_error(each.result, each.failure), each.failure) for each in deleted.items
    }
    rows, failures = [], []
    for each in planned:
        key = (each.group.group, each.topic)
        if key not in results:
            message = f"kept: group '{key[0]}' was not changed successfully"
            results[key] = (
                (Result.FAILED.value, message),
                Failure(Scope.TOPIC, each.topic, message, reason=Reason.NOT_SENT),
            )
        result_text, failure = results[key]
        rows.append(row(each, result_text))
        if failure:
            failures.append(failure)
    return rows, failures
