"""The topics that the members of a group subscribe to, own partitions of, or have commits on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from .groups import CONSUMER_PROTOCOL_TYPE, Group, GroupState, GroupType, Member

NOT_SUBSCRIBED = "no member subscribes to this topic"


class Subscribed(NamedTuple):
    """The topics that members subscribe to; ``whole``: whether there are no others."""

    topics: frozenset[str]
    whole: bool


_UNKNOWN = Subscribed(frozenset(), False)


def subscribed(group: Group) -> Subscribed:
    """Return the topics that the members of a group subscribe to, as far as brokers report them.

    Brokers report the subscriptions of classic groups only while these are Stable.
    """
    members = group.members
    if not members:
        return _UNKNOWN
    if group.type == GroupType.STREAMS:
        topology = group.topology
        if topology is None or topology.subtopologies is None:
            return _UNKNOWN
        same = all(member.streams and member.streams.topology_epoch == topology.epoch for member in members)
        return Subscribed(topology.sources | topology.repartitions, same)
    if group.type in (GroupType.CLASSIC, None) and group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return _UNKNOWN
    topics = frozenset(topic for member in members for topic in member_topics(group, member))
    return Subscribed(topics, group.state == GroupState.STABLE and all(map(_is_reported, members)))


def _is_reported(member: Member) -> bool:
    subscription = member.subscription
    return bool(subscription.topics or subscription.regex) and not (subscription.raw or member.assignment.raw)


def member_topics(group: Group, member: Member) -> frozenset[str]:
    """Return the topics that a member subscribes to.

    Brokers do not report which topics match a regular expression. Instead, these are the topics that are assigned to
    members with the same expression, now or in their target assignments.
    """
    subscription = member.subscription
    if not subscription.regex:
        return frozenset(subscription.topics)
    others = (each for each in group.members or () if each.subscription.regex == subscription.regex)
    return frozenset((*subscription.topics, *(topic for other in others for topic in _owned(other))))


def _owned(member: Member) -> Iterator[str]:
    for assignment in (member.assignment, member.target):
        if assignment is not None:
            for entry in assignment.topics:
                yield entry.topic


def doubtful_topics(group: Group, topics: Iterable[str]) -> frozenset[str]:
    """Return the topics that no member owns and no member can subscribe to, if subscriptions are unknown.

    Brokers keep the offsets of groups with members that have no subscriptions at all, such as Kafka Connect.
    """
    if not group.members or (group.type == GroupType.CLASSIC and group.protocol_type != CONSUMER_PROTOCOL_TYPE):
        return _NONE
    found = subscribed(group)
    return _NONE if found.whole else frozenset(set(topics).difference(found.topics, *map(_owned, group.members)))


def left_topics(group: Group, topics: Iterable[str]) -> frozenset[str]:
    """Return the topics that no member subscribes to or owns; none if subscriptions are unknown."""
    return unsubscribed_topics(group, set(topics).difference(*map(_owned, group.members or ())))


def unsubscribed_topics(group: Group, topics: Collection[str]) -> frozenset[str]:
    """Return the topics that no member subscribes to, whose offsets expire; none if subscriptions are unknown.

    Brokers let the offsets of a topic expire that a member owns, but does not subscribe to (KAFKA-12759).
    """
    if not (group.members and topics):
        return _NONE
    found = subscribed(group)
    return frozenset(topics) - found.topics if found.whole else _NONE


_NONE: frozenset[str] = frozenset()


def not_owners(group: Group) -> frozenset[tuple[str, str]]:
    """Return the members that own partitions of topics that they do not subscribe to, each with such a topic.

    The coordinator keeps the assignment of a static member that joins with another subscription (KAFKA-12759).
    """
    if group.type == GroupType.STREAMS or not group.members:
        return frozenset()
    found = {
        (member.member_id, entry.topic)
        for member in group.members
        for entry in member.assignment.topics
        if entry.topic not in member.subscription.topics
    }
    if not found or not subscribed(group).whole:
        return frozenset()
    by_regex = {member.member_id for member in group.members if member.subscription.regex}
    return frozenset(pair for pair in found if pair[0] not in by_regex)
