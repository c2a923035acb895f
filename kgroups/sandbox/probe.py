"""Asks brokers whether they are ready, in Kafka's own protocol over a plain socket, with hand-packed bytes.

Not log text, which differs between versions and comes too early; not our own client, which these clusters are to test.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count

OFFSETS_TOPIC = "__consumer_offsets"

_METADATA, _FIND_COORDINATOR, _DESCRIBE_GROUPS, _LIST_GROUPS, _API_VERSIONS = 3, 10, 15, 16, 18


class _Reader:
    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def int16(self) -> int:
        return self._int(">h")

    def int32(self) -> int:
        return self._int(">i")

    def text(self) -> str:
        """Kafka's STRING or NULLABLE_STRING; null is empty."""
        length = max(self.int16(), 0)
        self._at += length
        return self._body[self._at - length : self._at].decode()

    def int32s(self) -> list[int]:
        return [self.int32() for _ in range(self.int32())]

    def skip(self, count: int) -> None:
        self._at += count

    def _int(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self._body, self._at)
        self._at += struct.calcsize(form)
        return int(value)


@dataclass(frozen=True, slots=True)
class _Metadata:
    brokers: set[int]
    offsets_leaders: dict[int, tuple[int, list[int]]]
    """Leader (-1 for none) and replicas of each partition of the offsets topic; empty while there is no such topic."""


class _Connection:
    """One broker, one request at a time.

    :raises OSError: from every method, when the broker does not answer as a Kafka broker does.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self._socket = socket.create_connection((host, port), timeout)

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, api: int, version: int, body: bytes = b"") -> _Reader:
        # Request header v1: api key, api version, correlation id, client id.
        request = struct.pack(">hhi", api, version, 1) + _text("kgroups-sandbox") + body
        self._socket.sendall(struct.pack(">i", len(request)) + request)
        (length,) = struct.unpack(">i", self._receive(4))
        return _Reader(self._receive(length)[4:])  # after the correlation id

    def _receive(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            piece = self._socket.recv(count - len(received))
            if not piece:
                raise ConnectionResetError("the broker hung up")
            received += piece
        return received

    def api_versions(self) -> dict[int, int]:
        """Highest version of each API."""
        answer = self.ask(_API_VERSIONS, 0)
        if code := answer.int16():
            raise OSError(f"ApiVersions: error {code}")
        rows = [(answer.int16(), answer.int16(), answer.int16()) for _ in range(answer.int32())]
        return {api: highest for api, _, highest in rows}

    def metadata(self) -> _Metadata:
        answer = self.ask(_METADATA, 1, struct.pack(">i", -1))
        brokers = set()
        for _ in range(answer.int32()):
            brokers.add(answer.int32())
            answer.text(), answer.int32(), answer.text()
        answer.int32()  # the controller
        leaders: dict[int, tuple[int, list[int]]] = {}
        for _ in range(answer.int32()):
            answer.int16()
            name = answer.text()
            answer.skip(1)
            for _ in range(answer.int32()):
                answer.int16()
                partition, leader, replicas, _isr = answer.int32(), answer.int32(), answer.int32s(), answer.int32s()
                if name == OFFSETS_TOPIC:
                    leaders[partition] = (leader, replicas)
        return _Metadata(brokers, leaders)

    def find_coordinator(self, group: str) -> int:
        """The error code. The first request makes the offsets topic."""
        return self.ask(_FIND_COORDINATOR, 0, _text(group)).int16()

    def describe_groups(self, names: Sequence[str]) -> dict[str, int]:
        """The error code of each: of a group that does not exist 0, unless this broker is not ready to say so."""
        answer = self.ask(_DESCRIBE_GROUPS, 0, struct.pack(">i", len(names)) + b"".join(map(_text, names)))
        codes = {}
        for _ in range(answer.int32()):
            code, name = answer.int16(), answer.text()
            answer.text(), answer.text(), answer.text()
            if answer.int32():
                raise OSError(f"there is a group named {name}, with members")
            codes[name] = code
        return codes

    def list_groups(self) -> int:
        """The error code; not 0 while the broker still loads groups."""
        return self.ask(_LIST_GROUPS, 0).int16()


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def what_is_missing(brokers: Mapping[int, tuple[str, int]], *, timeout: float = 3.0) -> str | None:
    """What keeps these brokers (id -> host, port) from serving groups; None when they are ready.

    Ready: each one answers, knows all the others, has heard of a leader for every partition of the offsets topic that
    lives on one of them, and has loaded those that it leads.
    """
    for number, (host, port) in brokers.items():
        try:
            with _Connection(host, port, timeout) as connection:
                missing = _missing_at(connection, number, brokers)
        except (OSError, struct.error) as error:
            missing = str(error) or type(error).__name__
        if missing:
            return f"broker {number} at {host}:{port}: {missing}"
    return None


def _missing_at(connection: _Connection, broker: int, expected: Collection[int]) -> str | None:
    connection.api_versions()
    metadata = connection.metadata()
    if unknown := set(expected) - metadata.brokers:
        return f"does not know broker {', '.join(map(str, sorted(unknown)))} yet"
    if not metadata.offsets_leaders and (code := connection.find_coordinator("kgroups-probe")):
        return f"has no group coordinator yet (error {code})"
    leaders = connection.metadata().offsets_leaders
    leaderless = [1 for leader, replicas in leaders.values() if leader < 0 and set(replicas) & set(expected)]
    if leaderless or not leaders:
        return f"{len(leaderless) or 'all'} partitions of {OFFSETS_TOPIC} have no leader yet"
    # A broker knows that it leads a partition a moment before it begins to load it, and lists groups in that moment
    # as if there were none: so each partition is asked for by a group that would live there.
    own = [name for partition, name in _a_group_for_each(len(leaders)).items() if leaders[partition][0] == broker]
    for name, code in connection.describe_groups(own).items():
        if code:
            return f"does not serve the partition of group {name} yet (error {code})"
    if code := connection.list_groups():
        return f"still loads its groups (error {code})"
    return None


@cache
def _a_group_for_each(partitions: int) -> dict[int, str]:
    """Partition of the offsets topic -> the name of a group that nobody has and that lives there."""
    found: dict[int, str] = {}
    names = (f"kgroups-probe-{number}" for number in count())
    while len(found) < partitions:
        name = next(names)
        found.setdefault(_partition_of(name, partitions), name)
    return found


def _partition_of(group: str, partitions: int) -> int:
    """Kafka's own rule: Java's hash of the name, as a positive number."""
    code = 0
    for character in group:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return (0 if code == 0x80000000 else min(code, 0x100000000 - code)) % partitions


def api_versions(host: str, port: int, *, timeout: float = 3.0) -> dict[int, int]:
    """Highest version of each API that the broker speaks.

    :raises OSError: when it does not answer.
    """
    with _Connection(host, port, timeout) as connection:
        return connection.api_versions()
