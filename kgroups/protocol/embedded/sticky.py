"""User data of the sticky assignors: a member's assignment when it joined, and its generation.

``sticky`` of Java (KIP-54), without a version number: v0 the assignment, v1 with the generation (Kafka 2.3).
kafka-python 3 writes two bytes of version before v1; a leader in Java ignores data that it cannot decode.
``cooperative-sticky`` of Java (KIP-429): the generation alone; of librdkafka and similar clients: v1 of ``sticky``.
"""

from __future__ import annotations

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Raw, UserData, assignment_of
from kgroups.model.embedded.sticky import StickyData

from ..reader import Reader

_GENERATION_ALONE = 4
"""Bytes; every assignment is longer, except an empty one of v0."""


def decode_cooperative(data: bytes) -> UserData:
    """Decode the user data of ``cooperative-sticky``; never raise."""
    found = decode_sticky(data) if len(data) != _GENERATION_ALONE else None
    if found is None or (isinstance(found, Raw) and len(data) > _GENERATION_ALONE):
        return StickyData(None, _known(int.from_bytes(data[:_GENERATION_ALONE], "big", signed=True)))
    return found


def decode_sticky(data: bytes) -> UserData:
    """Decode the user data of ``sticky``; never raise. As in Java, try v1, then v0, and ignore the rest."""
    try:
        return _read(data, 0)
    except RemoteProtocolError as error:
        try:
            return _read(data, 2) if data[:2] in _VERSIONS else Raw(data, str(error))
        except RemoteProtocolError:
            return Raw(data, str(error))


_VERSIONS = (b"\0\0", b"\0\1")
"""As written by kafka-python."""


def _read(data: bytes, at: int) -> StickyData:
    with Reader("sticky assignor's user data", data, at) as reader:
        previous = assignment_of([(reader.string(), reader.int32s()) for _ in reader.turns(reader.count())])
        reader.inside()
        left = len(data) - reader.at
        return StickyData(previous, _known(reader.int32()) if left >= 4 else None)


def _known(generation: int) -> int | None:
    return None if generation < 0 else generation
