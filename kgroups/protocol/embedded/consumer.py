"""The consumer's embedded protocol: subscription and assignment, v0 to v3 (ConsumerProtocol*.json).

v1 owned partitions (KIP-429) · v2 generation (KIP-792) · v3 rack (KIP-881). A newer version than v3 only appends
fields, so that it is read as v3 and what follows is left alone, as Kafka's own clients do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of

from ..reader import Reader

T = TypeVar("T")

_OWNED, _GENERATION, _RACK = 1, 2, 3
"""The first version that has each."""


@lru_cache(maxsize=4096)
def decode_subscription(data: bytes) -> Subscription:
    """What a member asked for; never raises."""
    if not data:  # a member that is still joining
        return Subscription()
    found = _decode("ConsumerProtocolSubscription", data, _subscription)
    return Subscription(raw=found) if isinstance(found, Raw) else found


@lru_cache(maxsize=4096)
def decode_assignment(data: bytes) -> Assignment:
    """What a member holds; never raises."""
    if not data:
        return Assignment()
    found = _decode("ConsumerProtocolAssignment", data, _assignment)
    return Assignment(raw=found) if isinstance(found, Raw) else found


def _decode(name: str, data: bytes, read: Callable[[Reader, int], T]) -> T | Raw:
    if len(data) < 2:
        return Raw(data, "too short for a version")
    try:
        with Reader(name, data, 0) as reader:
            version = reader.int16()
            if version < 0:
                return Raw(data, f"version {version}")
            found = read(reader, version)
            reader.inside()
    except RemoteProtocolError as error:
        return Raw(data, str(error))
    return found


def _subscription(reader: Reader, version: int) -> Subscription:
    topics = [reader.string() for _ in range(reader.count())]
    reader.nullable_bytes()  # what the assignor added
    owned = _partitions(reader) if version >= _OWNED else Assignment()
    generation = reader.int32() if version >= _GENERATION else -1
    if version >= _RACK:
        reader.nullable_string()
    return Subscription(tuple(sorted(topics)), owned=owned, generation=None if generation < 0 else generation)


def _assignment(reader: Reader, version: int) -> Assignment:
    assignment = _partitions(reader)
    reader.nullable_bytes()
    return assignment


def _partitions(reader: Reader) -> Assignment:
    return assignment_of([(reader.string(), reader.int32s()) for _ in range(reader.count())])
