"""Write the consumer's embedded protocol, which :mod:`kgroups.protocol.embedded.consumer` reads.

v0 topics · v1 owned partitions (KIP-429) · v2 generation (KIP-792) · v3 rack (KIP-881)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgroups.protocol.writer import array, int16, int32, string

Partitions = Mapping[str, Sequence[int]]
"""Topic -> partitions."""

NEWEST = 3
_OWNED, _GENERATION, _RACK = 1, 2, 3
"""The first version that has each."""

_NULL_STRING, _NULL_BYTES = int16(-1), int32(-1)


def encode_subscription(
    topics: Sequence[str], owned: Partitions, *, generation: int = -1, version: int = NEWEST
) -> bytes:
    """Return the metadata that a member sends in JoinGroup: its topics, and the partitions that it owned before."""
    return (
        int16(version)
        + array(map(string, topics))
        + _NULL_BYTES  # user data
        + (_partitions(owned) if version >= _OWNED else b"")
        + (int32(generation) if version >= _GENERATION else b"")
        + (_NULL_STRING if version >= _RACK else b"")
    )


def encode_assignment(partitions: Partitions, *, version: int = NEWEST) -> bytes:
    """Return the assignment that a leader sends in SyncGroup for one member."""
    return int16(version) + _partitions(partitions) + _NULL_BYTES


def _partitions(partitions: Partitions) -> bytes:
    return array(string(topic) + array(map(int32, numbers)) for topic, numbers in partitions.items())
