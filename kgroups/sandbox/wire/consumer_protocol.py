"""The consumer's embedded protocol, written: what :mod:`kgroups.protocol.embedded.consumer` reads.

v0 topics · v1 owned partitions (KIP-429) · v2 generation (KIP-792) · v3 rack (KIP-881)
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from kio.index import load_entity_schema
from kio.static.constants import EntityType

from kgroups.protocol.schema import build, nested, write

Partitions = Mapping[str, Sequence[int]]
"""Topic -> partitions."""

NEWEST = 3


def encode_subscription(
    topics: Sequence[str], owned: Partitions, *, generation: int = -1, version: int = NEWEST
) -> bytes:
    """What a member asks for, and what it held before, as it goes into JoinGroup."""
    kind = load_entity_schema("consumer_protocol_subscription", version, EntityType.data)
    values: dict[str, Any] = {"topics": tuple(topics), "user_data": None}
    if version >= 1:
        values["owned_partitions"] = _entries(kind, owned)
    return _versioned(version, build(kind, **values, generation_id=generation, rack_id=None))


def encode_assignment(partitions: Partitions, *, version: int = NEWEST) -> bytes:
    """What a leader assigns to a member, as it goes into SyncGroup."""
    kind = load_entity_schema("consumer_protocol_assignment", version, EntityType.data)
    return _versioned(version, build(kind, assigned_partitions=_entries(kind, partitions), user_data=None))


def _entries(kind: Any, partitions: Partitions) -> tuple[Any, ...]:
    entry = nested(kind, "TopicPartition")
    return tuple(build(entry, topic=topic, partitions=tuple(numbers)) for topic, numbers in partitions.items())


def _versioned(version: int, entity: Any) -> bytes:
    return struct.pack(">h", version) + write(entity)
