"""Selected topics that do not exist: without a failure, nothing would distinguish them from topics without groups."""

from __future__ import annotations

from typing import Any

from kgroups.errors import KgroupsError
from kgroups.model.outcome import Failure, Outcome, Scope

from .client import Client
from .query.select_groups import Selection


async def topic_failures(admin: Client, selection: Selection, outcome: Outcome[Any]) -> list[Failure]:
    """Return a failure for each selected topic that does not exist or cannot be read, and has none yet.

    If brokers did not respond, the outcome already is incomplete, and there may be no time left.
    """
    if any(failure.scope in (Scope.CLUSTER, Scope.BROKER) for failure in outcome.failures):
        return []
    known = {failure.name for failure in outcome.failures if failure.scope is Scope.TOPIC}
    names = sorted(selection.topics - known)
    if not names:
        return []
    try:
        topics = await admin.topics(names)
    except KgroupsError as error:
        return [Failure.of(error, Scope.CLUSTER, "", api="Metadata")]
    errors = [(name, topics[name].error) for name in names if name in topics]
    return [error.failure(Scope.TOPIC, name, api="Metadata") for name, error in errors if error]
