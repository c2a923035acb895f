"""Kafka Streams: the internal topics of groups, and the partitions that members read (KIP-1071)."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from .assignment import Assignment, assignment_of
from .groups import CONSUMER_GROUPS, Group, GroupId, GroupType
from .streams import AssignedTasks, Subtopology

STREAMS_ASSIGNOR = "stream"
"""The protocol of applications under the classic protocol; a group without members has none."""
CHANGELOG = "-changelog"
_ENDS = (CHANGELOG, "-repartition", "-topic")
_INTERNAL = re.compile(
    r".+-(?:changelog|repartition|subscription-(?:registration|response)-topic)"
    r"|(?:.+-)?KTABLE-FK-JOIN-SUBSCRIPTION-(?:REGISTRATION|RESPONSE)-[0-9]+-topic"
)
"""What follows the name of the group; the topics of subscriptions are those of joins by foreign key (KIP-213)."""


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
    return topic.startswith(f"{group}-") and _INTERNAL.fullmatch(topic, len(group) + 1) is not None


def owner_of(topic: str, groups: Container[GroupId]) -> GroupId | None:
    """Return the group, of these, after which an internal topic is named; of several, that with the longest name."""
    if not topic.endswith(_ENDS):
        return None
    return next((name for name in prefixes(topic) if name in groups and is_internal_name(topic, name)), None)


def prefixes(name: str) -> Iterator[str]:
    """Yield the parts of a name before each hyphen, the longest first."""
    end = name.rfind("-")
    while end > 0:
        yield name[:end]
        end = name.rfind("-", 0, end)


def classic_applications(
    groups: Collection[Group], topics: Iterable[str], names: Container[GroupId]
) -> dict[GroupId, list[str]]:
    """Return the groups that are Kafka Streams applications under the classic protocol, with their internal topics.

    Members have the assignor of Streams; if there are none, only the names of internal topics show it.

    :param names: the names of all groups: an internal topic belongs to the one with the longest name.
    """
    found = {each.group: list[str]() for each in groups if _may_be_application(each)}
    for topic in topics:
        owner = owner_of(topic, names)
        if owner in found:
            found[owner].append(topic)
    members = {each.group for each in groups if each.protocol == STREAMS_ASSIGNOR}
    return {name: sorted(internal) for name, internal in found.items() if internal or name in members}


def _may_be_application(group: Group) -> bool:
    classic = group.type in (GroupType.CLASSIC, None) and group.protocol_type in CONSUMER_GROUPS
    return classic and group.protocol in ("", STREAMS_ASSIGNOR)


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
