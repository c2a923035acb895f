"""User data of the sticky assignors: what a member held when it joined, and in which generation.

``sticky`` of Java (KIP-54), without a version before it: v0 the assignment, v1 with the generation (Kafka 2.3).
kafka-python 3 writes the same v1 behind its version, two bytes: a leader in Java ignores what it cannot read.
``cooperative-sticky`` of Java (KIP-429): the generation alone; of librdkafka, and of clients like it: v1 of ``sticky``.
"""

from __future__ import annotations

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Raw, UserData, assignment_of
from kgroups.model.embedded.sticky import StickyData

from ..reader import Reader

_GENERATION_ALONE = 4
"""Bytes; no assignment is as short, but for an empty one of v0."""


def decode_cooperative(data: bytes) -> UserData:
    """Of ``cooperative-sticky``; never raises."""
    found = decode_sticky(data) if len(data) != _GENERATION_ALONE else None
    if found is None or (isinstance(found, Raw) and len(data) > _GENERATION_ALONE):
        return StickyData(None, _known(int.from_bytes(data[:_GENERATION_ALONE], "big", signed=True)))
    return found


def decode_sticky(data: bytes) -> UserData:
    """Of ``sticky``; never raises. As Java does, v1 is tried, then v0; what follows is left alone."""
    try:
        return _read(data, 0)
    except RemoteProtocolError as error:
        try:
            return _read(data, 2) if data[:2] in _VERSIONS else Raw(data, str(error))
        except RemoteProtocolError:
            return Raw(data, str(error))


_VERSIONS = (b"\0\0", b"\0\1")
"""As kafka-python writes them."""


def _read(data: bytes, at: int) -> StickyData:
    with Reader("sticky assignor's user data", data, at) as reader:
        previous = assignment_of([(reader.string(), reader.int32s()) for _ in reader.turns(reader.count())])
        reader.inside()
        left = len(data) - reader.at
        return StickyData(previous, _known(reader.int32()) if left >= 4 else None)


def _known(generation: int) -> int | None:
    return None if generation < 0 else generation
