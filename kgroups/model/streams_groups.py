"""Streams groups (KIP-1071): their internal topics, and the partitions that their members read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .assignment import Assignment, assignment_of
from .groups import Group
from .streams import AssignedTasks, Subtopology


def internal_topics(group: Group) -> list[str]:
    """Return the internal topics of a group whose names show that they are its own, sorted.

    Clients declare the topology: a topic whose name does not start with the group ID is never considered internal.
    """
    named = group.topology.internal if group.topology else frozenset()
    return sorted(name for name in named if is_internal_name(name, group.group))


def is_ready(group: Group) -> bool:
    """Return whether the broker reports the subtopologies of a streams group."""
    return group.topology is not None and group.topology.subtopologies is not None


def is_internal_name(topic: str, group: str) -> bool:
    """Return whether a topic is named as Kafka Streams names the internal topics of a group."""
    return topic.startswith(f"{group}-") and topic.endswith(("-changelog", "-repartition"))


def with_partitions_read(group: Group, counts: Mapping[str, int]) -> Group:
    """Return the group, each member with the partitions that its active tasks read.

    A task reads its partition of each topic of its subtopology that has that many partitions.

    :param counts: the number of partitions of each topic; without one, each task reads its partition of the topic.
    """
    parts = {part.name: part for part in (group.topology.subtopologies if group.topology else None) or ()}
    members = tuple(
        member._replace(
            assignment=_partitions_read(member.streams.tasks, parts, counts),
            target=_partitions_read(member.streams.target, parts, counts),
        )
        if member.streams
        else member
        for member in group.members or ()
    )
    return group._replace(members=members)


def topics_of_tasks(group: Group) -> set[str]:
    """Return the topics that active tasks of a group read, whose numbers of partitions are needed."""
    if not any(member.streams for member in group.members or ()) or not group.topology:
        return set()
    return {name for part in group.topology.subtopologies or () for name in _topics_read(part)}


def _topics_read(part: Subtopology) -> Iterator[str]:
    yield from part.sources
    for topic in part.repartition_sources:
        yield topic.name


def _partitions_read(
    assigned: AssignedTasks, parts: Mapping[str, Subtopology], counts: Mapping[str, int]
) -> Assignment:
    read: list[tuple[str, list[int]]] = []
    for entry in assigned.active.subtopologies:
        for topic in _topics_read(parts[entry.subtopology]) if entry.subtopology in parts else ():
            count = counts.get(topic)
            existing = [partition for partition in entry.partitions if count is None or partition < count]
            if existing:
                read.append((topic, existing))
    return assignment_of(read)
