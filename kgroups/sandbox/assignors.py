"""Who gets which partitions, as Kafka's own assignors decide; for members that we play ourselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def range_assignment(members: Sequence[str], topics: Mapping[str, int]) -> dict[str, dict[str, list[int]]]:
    """The range assignor, for members that all subscribe to all ``topics`` (name -> number of partitions).

    Topic by topic: neighbouring partitions, to the members in the order of their ids; the first ones get the remainder.

    :returns: member -> topic -> partitions; a member without partitions is there, with nothing.
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
