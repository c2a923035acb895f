"""The consumer's embedded protocol: subscription and assignment, v0 to v3 (ConsumerProtocol*.json).

v1 owned partitions (KIP-429) · v2 generation (KIP-792) · v3 rack (KIP-881). A newer version than v3 only appends
fields, so that it is read as v3 and what follows is left alone, as Kafka's own clients do.

Topics and partitions must be there. What comes behind them is read as far as it goes: clients exist that announce a
version and leave out its fields. ``note`` says so.
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
    """User data of an assignor that is not known."""
    return Raw(data, "user data of an assignor that is not known")


def decode_subscription(data: bytes, user_data: ReadUserData = raw_user_data) -> Subscription:
    """What a member asked for; never raises."""
    if not data:  # a member that is still joining
        return Subscription()
    try:
        with Reader("ConsumerProtocolSubscription", data, 0) as reader:
            version = _version(reader)
            topics = [reader.string() for _ in reader.turns(reader.count())]
            reader.inside()
    except RemoteProtocolError as error:
        return Subscription(raw=Raw(data, str(error)))
    rest = _Rest(reader)
    told = rest.read("user data", reader.nullable_bytes, None)
    owned = rest.read("owned partitions", lambda: _partitions(reader), Assignment()) if version >= _OWNED else None
    generation = rest.read("generation", reader.int32, -1) if version >= _GENERATION else -1
    rack = rest.read("rack", reader.nullable_string, None) if version >= _RACK else None
    return Subscription(
        tuple(sorted(topics)),
        owned=owned or Assignment(),
        generation=None if generation < 0 else generation,
        rack=rack,
        version=version,
        user_data=user_data(told) if told else None,
        note=rest.note(version),
    )


def decode_assignment(data: bytes, user_data: ReadUserData = raw_user_data) -> Assignment:
    """What a member holds; never raises."""
    if not data:
        return Assignment()
    try:
        with Reader("ConsumerProtocolAssignment", data, 0) as reader:
            version = _version(reader)
            held = _partitions(reader)
    except RemoteProtocolError as error:
        return Assignment(raw=Raw(data, str(error)))
    rest = _Rest(reader)
    told = rest.read("user data", reader.nullable_bytes, None)
    return held._replace(version=version, user_data=user_data(told) if told else None, note=rest.note(version))


class _Rest:
    """The fields behind those without which nothing is known."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._broken: str | None = None

    def read(self, what: str, read: Callable[[], T], absent: T) -> T:
        """The next field; ``absent`` where it, or one before it, is not whole."""
        reader = self._reader
        if self._broken is not None:
            return absent
        begin, missing = reader.at, reader.at == len(reader.data)
        try:
            with reader:
                value = read()
                reader.inside()
        except RemoteProtocolError:
            reader.at = begin
            self._broken = f"it ends before its {what}" if missing else f"its {what} cannot be read"
            return absent
        return value

    def note(self, version: int) -> str | None:
        """What is odd about the bytes; ``None`` when nothing is."""
        left = len(self._reader.data) - self._reader.at
        if version > NEWEST:
            return f"version {version} is newer than {NEWEST}: {self._broken or f'{left} bytes more are not read'}"
        return self._broken or (f"{left} bytes behind its end" if left else None)


def _version(reader: Reader) -> int:
    version = reader.int16()
    if version < 0:
        raise ValueError(f"version {version}")
    return version


def _partitions(reader: Reader) -> Assignment:
    found = assignment_of([(reader.string(), reader.int32s()) for _ in reader.turns(reader.count())])
    reader.inside()
    return found
