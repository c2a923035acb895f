"""The consumer's embedded protocol: subscription and assignment, v0 to v3 (ConsumerProtocol*.json).

v1 owned partitions (KIP-429) · v2 generation (KIP-792) · v3 rack (KIP-881). Newer versions only append fields: they are
read as v3, and the rest is ignored, as in Kafka's clients.

Topics and partitions are required. The fields after them are read as far as possible: some clients announce a version
and omit its fields. ``note`` describes the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Raw, Subscription, UserData, assignment_of

from ..reader import Reader

T = TypeVar("T")

NEWEST = 3
_OWNED, _GENERATION, _RACK = 1, 2, 3
"""The first version that has each."""

ReadUserData = Callable[[bytes], UserData]


def raw_user_data(data: bytes) -> UserData:
    """Keep the user data of an unknown assignor."""
    return Raw(data, "user data of an unknown assignor")


def decode_subscription(data: bytes, user_data: ReadUserData = raw_user_data) -> Subscription:
    """Return a member's subscription; never raise."""
    if not data:  # a member that is still joining
        return Subscription()
    try:
        with Reader("ConsumerProtocolSubscription", data, 0) as reader:
            version = _version(reader)
            topics = [reader.string() for _ in reader.turns(reader.count())]
            reader.inside()
    except RemoteProtocolError as error:
        return Subscription(raw=Raw(data, str(error)), readable=_readable(error))
    rest = _Rest(reader)
    opaque = rest.read("user data", reader.nullable_bytes, None)
    owned = rest.read("owned partitions", lambda: _partitions(reader), Assignment()) if version >= _OWNED else None
    generation = rest.read("generation", reader.int32, -1) if version >= _GENERATION else -1
    rack = rest.read("rack", reader.nullable_string, None) if version >= _RACK else None
    return Subscription(
        tuple(sorted(topics)),
        owned=owned or Assignment(),
        generation=None if generation < 0 else generation,
        rack=rack,
        version=version,
        user_data=user_data(opaque) if opaque else None,
        note=rest.note(version),
        readable=rest.readable,
    )


def decode_assignment(data: bytes, user_data: ReadUserData = raw_user_data) -> Assignment:
    """Return a member's assignment; never raise."""
    if not data:
        return Assignment()
    try:
        with Reader("ConsumerProtocolAssignment", data, 0) as reader:
            version = _version(reader)
            held = _partitions(reader)
    except RemoteProtocolError as error:
        return Assignment(raw=Raw(data, str(error)), readable=_readable(error))
    rest = _Rest(reader)
    opaque = rest.read("user data", reader.nullable_bytes, None)
    data_of_assignor = user_data(opaque) if opaque else None
    return held._replace(version=version, user_data=data_of_assignor, note=rest.note(version), readable=rest.readable)


def _readable(error: RemoteProtocolError) -> bool | None:
    """Return ``False``; ``None`` if only a text is not UTF-8, in which Java replaces characters."""
    return None if isinstance(error.__cause__, UnicodeDecodeError) else False


class _Rest:
    """The optional fields, after the required ones."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._broken: str | None = None
        self.readable: bool | None = True

    def read(self, what: str, read: Callable[[], T], absent: T) -> T:
        """Return the next field, or ``absent`` if it, or one before it, is missing or invalid."""
        reader = self._reader
        if self._broken is not None:
            return absent
        begin, missing = reader.at, reader.at == len(reader.data)
        try:
            with reader:
                value = read()
                reader.inside()
        except RemoteProtocolError as error:
            self.readable = _readable(error)
            reader.at = begin
            self._broken = f"it ends before its {what}" if missing else f"its {what} cannot be decoded"
            return absent
        return value

    def note(self, version: int) -> str | None:
        """Return how the bytes differ from a known version, or ``None``."""
        left = len(self._reader.data) - self._reader.at
        if version > NEWEST:
            return f"version {version} is newer than {NEWEST}: {self._broken or f'{left} more bytes are ignored'}"
        return self._broken or (f"{left} bytes after its end" if left else None)


def _version(reader: Reader) -> int:
    version = reader.int16()
    if version < 0:
        raise ValueError(f"version {version}")
    return version


def _partitions(reader: Reader) -> Assignment:
    found = assignment_of([(reader.string(), reader.int32s()) for _ in reader.turns(reader.count())])
    reader.inside()
    return found
