"""Partition assignment as by Kafka's assignors, for members that kgroups implements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def range_assignment(members: Sequence[str], topics: Mapping[str, int]) -> dict[str, dict[str, list[int]]]:
    """Assign partitions as the range assignor, to members that all subscribe to all ``topics`` (name -> partitions).

    For each topic: neighboring partitions, to the members in the order of their IDs; the first ones get the remainder.

    :returns: member -> topic -> partitions; a member without partitions has an empty mapping.
    """
    assigned: dict[str, dict[str, list[int]]] = {member: {} for member in sorted(members)}
    for topic, partitions in sorted(topics.items()):
        share, remainder = divmod(partitions, len(assigned))
        start = 0
        for at, member in enumerate(assigned):
            size = share + (at < remainder)
            if size:
                assigned[member][topic] = list(range(start, start + size))
            start += size
    return assigned
