"""The broker's uniform assignor (KIP-848), as of Kafka 4.3.

It balances all topics together, then minimizes moves. As in Kafka, there is one algorithm for members with equal
subscriptions, and one for others. Older versions give the first members one partition more when the number is not
divisible, and so move more partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .java_order import copied, grown, hash_of_text, hash_of_uuid
from .shape import Assigned, Participant, TopicPartition, Topics
from .uniform_general import assign_general


def assign(members: Sequence[Participant], topics: Topics) -> Assigned:
    by_id = {member.member_id: member for member in members}
    ordered = [by_id[name] for name in grown(by_id, hash_of_text)]
    if len({frozenset(member.topics) for member in members}) <= 1:
        return _assign_equal(ordered, topics)
    return assign_general(ordered, topics)


def _assign_equal(members: Sequence[Participant], topics: Topics) -> Assigned:
    """Let each member keep at most an equal share, in order; fill up the members below their share in turn."""
    assigned: Assigned = {member.member_id: [] for member in members}
    subscribed = _in_order((members[0].topics if members else ()), topics)
    owned = {partition for member in members for partition in member.owned}
    free = [each for topic in subscribed for each in _all_of(topic, topics) if each not in owned]
    total = sum(topics[topic].partitions for topic in subscribed)
    least, with_more = divmod(total, len(members)) if members else (0, 0)
    room: list[tuple[str, int]] = []
    for place, member in enumerate(members):
        one_more = with_more > 0
        share = least + one_more
        for topic, partitions in _by_topic(member.owned, topics):
            if topic in subscribed:
                assigned[member.member_id] += partitions[:share]
                free += partitions[share:]
                share -= min(share, len(partitions))
        if share and one_more and len(members) - place > with_more:
            share, one_more = share - 1, False  # it has less than its share: a later member may keep one more
        room.append((member.member_id, share))
        with_more -= one_more
    at = 0
    for name, share in room:
        assigned[name] += free[at : at + share]
        at += share
    return assigned


def _in_order(names: Iterable[str], topics: Topics) -> list[str]:
    """Return topics in the broker's iteration order: by the hash of their IDs."""
    existing = [name for name in copied(names, hash_of_text) if name in topics]
    return copied(existing, lambda name: hash_of_uuid(topics[name].id))


def _all_of(topic: str, topics: Topics) -> list[TopicPartition]:
    return [(topic, partition) for partition in range(topics[topic].partitions)]


def _by_topic(owned: Sequence[TopicPartition], topics: Topics) -> list[tuple[str, list[TopicPartition]]]:
    """Return the partitions of a member in the broker's iteration order: topics by hash, partitions in set order."""
    found: dict[str, list[int]] = {}
    for topic, partition in owned:
        if topic in topics:
            found.setdefault(topic, []).append(partition)
    ordered = grown(found, lambda topic: hash_of_uuid(topics[topic].id))
    return [(topic, [(topic, each) for each in copied(found[topic], int)]) for topic in ordered]
