"""Find committed offsets that brokers leave out of OffsetFetch for want of an ACL, before a group is deleted with them.

OffsetFetch returns only offsets on topics that the principal may DESCRIBE; DeleteGroups wants DELETE on the group only
and deletes them all. A principal that may not DESCRIBE every topic must read the group's records, or confirm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgroups.errors import Reason
from kgroups.model.counts import count
from kgroups.model.groups import GroupId
from kgroups.model.operations.committing import Pair
from kgroups.model.outcome import Failure, Scope
from kgroups.model.permissions import HiddenTopics
from kgroups.net.cluster import Cluster

from ...offsets_topic.recent_commits import recent_commits
from ...query.group_offsets import find_hidden_topics

_SHOWN = 3

Seen = Mapping[GroupId, Mapping[Pair, object]]
"""Groups with the partitions on which offsets were found."""


async def hidden_offsets(cluster: Cluster, seen: Seen, way: str) -> dict[GroupId, Failure]:
    """Return why groups must not be deleted: offsets that are hidden, or that may be.

    :param way: how to delete them all the same: a flag or an argument.
    """
    topics = await find_hidden_topics(cluster) if seen else frozenset()
    if not topics:
        return {}
    there = await recent_commits(cluster, tuple(seen), 0, everything=True)
    failures: dict[GroupId, Failure] = {}
    for group in seen:
        message = None
        if group in there.unread or group in there.since:
            message = _perhaps(topics, there.unread.get(group, "its log is too large to be read completely"), way)
        elif hidden := sorted(there.made.get(group, {}).keys() - seen[group].keys()):
            message = (
                f"{count(len(hidden), 'committed offset')} on topics without permission DESCRIBE would be deleted "
                f"without being in an undo file: {_some(f'{topic}-{partition}' for topic, partition in hidden)}; grant "
                f"DESCRIBE on the topics, or add {way}"
            )
        if message:
            failures[group] = Failure(Scope.GROUP, group, message, reason=Reason.OFFSETS_HIDDEN)
    return failures


def _perhaps(topics: HiddenTopics, unread: str, way: str) -> str:
    """Say that offsets may be hidden.

    :param topics: those that are hidden, or why they are unknown.
    :param unread: why the group's records are unknown.
    """
    lost = "and would be deleted without being in an undo file"
    if isinstance(topics, str):
        return f"committed offsets may be hidden, {lost} ({topics}; {unread}); to delete the group anyway, add {way}"
    return (
        f"committed offsets on topics without permission DESCRIBE may be hidden, {lost} ({unread}): "
        f"{_some(sorted(topics))}; grant DESCRIBE on the topics, or add {way}"
    )


def _some(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")
