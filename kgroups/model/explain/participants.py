"""The members of a group as input of an assignor, and repeated runs of an assignor."""

from __future__ import annotations

from collections.abc import Sequence

from kgroups.model.assignors import OF_BROKERS, OF_CLIENTS
from kgroups.model.assignors.java_order import copied, hash_of_text
from kgroups.model.assignors.shape import Assigned, Assignor, Participant, TopicPartition, Topics
from kgroups.model.groups import Member

from .facts import GroupFacts, subscribed_topics

ROUNDS = 10
"""More than any assignor needs."""


def assignor_of(facts: GroupFacts, name: str) -> Assignor | None:
    """Return Kafka's client or broker assignor of that name, depending on the group; ``None`` if there is none."""
    return (OF_BROKERS if facts.is_modern else OF_CLIENTS).get(name)


def participants_of(facts: GroupFacts) -> list[Participant]:
    """Return each member with its assignment, or its target assignment: what it would report in a rebalance now."""
    assigned = current(facts)
    return [
        Participant(
            member.member_id,
            subscribed_topics(facts, member),
            _in_broker_order(assigned[member.member_id]),
            0,
            member.instance_id,
        )
        for member in facts.members
    ]


def _in_broker_order(pairs: Sequence[TopicPartition]) -> tuple[TopicPartition, ...]:
    """Sort by topic as a broker iterates: if two IDs are in the same bucket, the order of insertion decides."""
    topics = copied(dict.fromkeys(topic for topic, _ in pairs), hash_of_text)
    place = {topic: at for at, topic in enumerate(topics)}
    return tuple(sorted(pairs, key=lambda pair: place[pair[0]]))


def current(facts: GroupFacts) -> Assigned:
    """Return the assignment of each member, in a KIP-848 group the target assignment, which its assignors use."""
    return {member.member_id: list((member.target or member.assignment).pairs()) for member in facts.members}


def run_to_fixed_point(assign: Assignor, members: Sequence[Participant], topics: Topics) -> tuple[Assigned, int]:
    """Run an assignor until its result no longer changes; return it, and the number of rebalances.

    An incremental assignor takes two.
    """
    assigned = assign(members, topics)
    for rounds in range(1, ROUNDS):
        members = [each._replace(owned=tuple(assigned[each.member_id]), generation=rounds) for each in members]
        following = assign(members, topics)
        if _same(following, assigned):
            return assigned, rounds
        assigned = following
    return assigned, ROUNDS


def _same(one: Assigned, other: Assigned) -> bool:
    return all(set(partitions) == set(other[name]) for name, partitions in one.items())


def could_hold(facts: GroupFacts, member: Member) -> int | None:
    """Return the number of partitions of the topics that a member subscribes to; ``None`` if unknown."""
    if not facts.of_consumers or not facts.has_subscriptions:
        return None
    topics = subscribed_topics(facts, member)
    if facts.undescribed.intersection(topics):
        return None
    return sum(facts.topics[topic].partitions for topic in topics if topic in facts.topics)
