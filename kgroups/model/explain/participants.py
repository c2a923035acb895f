"""A group's members as an assignor sees them, and an assignor run until nothing changes any more."""

from __future__ import annotations

from collections.abc import Sequence

from kgroups.model.assignment import Assignment
from kgroups.model.assignors import OF_BROKERS, OF_CLIENTS
from kgroups.model.assignors.java_order import copied, hash_of_text
from kgroups.model.assignors.shape import Assigned, Assignor, Participant, TopicPartition, Topics
from kgroups.model.groups import Member

from .facts import GroupFacts, wanted_topics

ROUNDS = 10
"""More than any assignor takes."""


def assignor_of(facts: GroupFacts, name: str) -> Assignor | None:
    """Kafka's own of that name, on the side that assigns in this group; ``None`` where there is none."""
    return (OF_BROKERS if facts.is_modern else OF_CLIENTS).get(name)


def participants_of(facts: GroupFacts) -> list[Participant]:
    """Each member with what it holds, or is meant to hold: what it would tell in a rebalance now."""
    held = current(facts)
    return [
        Participant(
            member.member_id,
            wanted_topics(facts, member),
            _as_kept(held[member.member_id]),
            0,
            member.instance_id,
        )
        for member in facts.members
    ]


def _as_kept(pairs: Sequence[TopicPartition]) -> tuple[TopicPartition, ...]:
    """Topics in the order in which a broker came to them first: where ids of two share a bucket, it stays so."""
    topics = copied(dict.fromkeys(topic for topic, _ in pairs), hash_of_text)
    place = {topic: at for at, topic in enumerate(topics)}
    return tuple(sorted(pairs, key=lambda pair: place[pair[0]]))


def current(facts: GroupFacts) -> Assigned:
    """Who holds what; in a KIP-848 group who is meant to, as its assignors look at nothing else."""
    return {member.member_id: list(_held(member.target or member.assignment).pairs()) for member in facts.members}


def _held(assignment: Assignment) -> Assignment:
    return Assignment() if assignment.raw else assignment


def run_to_fixed_point(assign: Assignor, members: Sequence[Participant], topics: Topics) -> tuple[Assigned, int]:
    """Where it comes to rest, and after how many rebalances: an assignor that works in steps takes two."""
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
    """Partitions of all that it asks for; ``None`` where that is not known."""
    if not facts.of_consumers or not facts.told_its_members:
        return None
    topics = wanted_topics(facts, member)
    if facts.untold.intersection(topics):
        return None
    return sum(facts.topics[topic].partitions for topic in topics if topic in facts.topics)
