"""The roundrobin assignor: all partitions in order, to members in turn, skipping those not subscribed to the topic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from .shape import Assigned, Participant, Topics, by_name, static_first


def assign(members: Sequence[Participant], topics: Topics) -> Assigned:
    assigned: Assigned = {member.member_id: [] for member in members}
    turn = cycle([(member.member_id, frozenset(member.topics)) for member in static_first(members)])
    for topic in by_name({topic for member in members for topic in member.topics} & topics.keys()):
        for partition in range(topics[topic].partitions):
            member_id = next(each for each, subscribed in turn if topic in subscribed)
            assigned[member_id].append((topic, partition))
    return assigned
