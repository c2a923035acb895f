"""What the changes of many groups share: they are made in chunks of groups, each checked again right before.

The old offsets are saved before the first request that changes anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from kgroups.errors import KgroupsError, Reason
from kgroups.model.groups import GroupId
from kgroups.model.operations.origin import Source
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.net.cluster import Cluster

from ...routing.partition_leaders import topic_leaders
from .interruption import Interruption

T = TypeVar("T")

GROUPS_AT_ONCE = 2_000
"""Groups whose results are collected together."""
FIRST_GROUPS = 64
"""Groups that are checked before the old offsets are saved."""


class UndoLog(Protocol):
    """Receives the old offsets, or settings, of a change before it is made, and then the results."""

    stop: Interruption

    async def save(self, cluster: Cluster, planned: Sequence[Any]) -> None:
        """Save the old values. Called once, before the first request that changes anything.

        :raises KgroupsError: if that fails; then nothing is changed.
        """

    def amend(self, planned: Sequence[PlannedOffset]) -> None:
        """Record that there were other old offsets than those that were saved."""

    def record(self, results: Iterable[Any]) -> None:
        """Record results as they become known."""

    def close(self) -> None:
        """Record nothing more."""


async def source_of(cluster: Cluster, planned: Iterable[PlannedOffset]) -> Source:
    """Return the cluster ID, and the topic IDs when the offsets were planned: a topic may have been recreated since."""
    seen = {entry.topic: entry.seen.topic_id for entry in planned}
    unseen = sorted(topic for topic, topic_id in seen.items() if topic_id is None)
    ids = {topic: topic_id for topic, topic_id in seen.items() if topic_id is not None}
    topics = await topic_leaders(cluster, unseen) if unseen else {}
    ids |= {name: entry.topic_id for name, entry in topics.items() if entry.topic_id}
    return Source(cluster_id=cluster.cluster_id, topic_ids=ids)


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield parts of at most this size."""
    for at in range(0, len(items), size):
        yield items[at : at + size]


def not_together(changed: Iterable[Failure], groups: Iterable[GroupId]) -> dict[GroupId, Failure]:
    """Return why each group is left alone: it has changed, or another one has."""
    message = "not changed: the members of another group have returned, or its offsets have changed"
    others = {name: Failure(Scope.GROUP, name, message, reason=Reason.CHANGED) for name in groups}
    return {**others, **{failure.name: failure for failure in changed}}


async def check_again(names: Sequence[GroupId], check: Awaitable[Outcome[T]], stop: Interruption) -> Outcome[T]:
    """Return the result of the check right before these groups are changed.

    If it fails, or a signal ends it, each of them is left alone and is a failure.
    """
    try:
        return await stop.bound(check) or Outcome((), tuple(map(stop.not_sent, names)))
    except KgroupsError as error:
        return Outcome((), tuple(_unchecked(name, error) for name in names))


def _unchecked(group: GroupId, error: KgroupsError) -> Failure:
    message = f"not changed: the check before the change failed: {error}"
    return Failure.of(error, Scope.GROUP, group)._replace(message=message)
