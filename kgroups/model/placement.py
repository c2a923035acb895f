"""The partition of ``__consumer_offsets`` that stores a group; its leader is the group's coordinator."""

from __future__ import annotations

from .groups import GroupId

OFFSETS_TOPIC = "__consumer_offsets"
"""The leaders of its partitions are the group coordinators."""


def partition_of(group: GroupId, partitions: int) -> int:
    """Compute Java's ``Utils.abs(groupId.hashCode()) % partitions``, over UTF-16 code units."""
    units = group.encode("utf-16-be", "surrogatepass")
    code = 0
    for at in range(0, len(units), 2):
        code = (31 * code + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return 0 if signed == -(1 << 31) else abs(signed) % partitions
