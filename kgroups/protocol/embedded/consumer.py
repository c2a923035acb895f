"""The consumer's embedded protocol: subscription and assignment, v0 to v3 (ConsumerProtocol*.json).

v1 owned partitions (KIP-429) · v2 generation (KIP-792) · v3 rack (KIP-881). A newer version than v3 only appends
fields, so that it is read as v3 and what follows is left alone, as Kafka's own clients do.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kio.index import load_entity_schema
from kio.static.constants import EntityType

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of

from ..schema import read

NEWEST = 3


@lru_cache(maxsize=4096)
def decode_subscription(data: bytes) -> Subscription:
    """What a member asked for; never raises."""
    entity = _decode("consumer_protocol_subscription", data)
    if entity is None:
        return Subscription()
    if isinstance(entity, Raw):
        return Subscription(raw=entity)
    generation = getattr(entity, "generation_id", -1)
    return Subscription(
        topics=tuple(sorted(entity.topics)),
        owned=_assignment(getattr(entity, "owned_partitions", ()) or ()),
        generation=None if generation < 0 else int(generation),
    )


@lru_cache(maxsize=4096)
def decode_assignment(data: bytes) -> Assignment:
    """What a member holds; never raises."""
    entity = _decode("consumer_protocol_assignment", data)
    if entity is None:
        return Assignment()
    if isinstance(entity, Raw):
        return Assignment(raw=entity)
    return _assignment(entity.assigned_partitions)


def _decode(name: str, data: bytes) -> Any:
    """kio's entity; ``None`` for no bytes at all (a member that is still joining), :class:`Raw` for unreadable ones."""
    if not data:
        return None
    if len(data) < 2:
        return Raw(data, "too short for a version")
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < 0:
        return Raw(data, f"version {version}")
    try:
        entity, _ = read(load_entity_schema(name, min(version, NEWEST), EntityType.data), data, 2)
    except RemoteProtocolError as error:
        return Raw(data, str(error))
    return entity


def _assignment(entries: Any) -> Assignment:
    return assignment_of((entry.topic, map(int, entry.partitions)) for entry in entries)
