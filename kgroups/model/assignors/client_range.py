"""The range assignor of clients and brokers: each member gets consecutive partitions of each topic.

The first members get one more if the number is not divisible. Previous assignments are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

from .shape import Assigned, Participant, Topics, static_first


def assign(members: Sequence[Participant], topics: Topics) -> Assigned:
    assigned: Assigned = {member.member_id: [] for member in members}
    readers: dict[str, list[str]] = {}
    for member in static_first(members):
        for topic in dict.fromkeys(member.topics):
            readers.setdefault(topic, []).append(member.member_id)
    for topic, ids in readers.items():
        if topic not in topics:
            continue
        each, more = divmod(topics[topic].partitions, len(ids))
        first = 0
        for place, member_id in enumerate(ids):
            end = first + each + (place < more)
            assigned[member_id] += [(topic, partition) for partition in range(first, end)]
            first = end
    return assigned
