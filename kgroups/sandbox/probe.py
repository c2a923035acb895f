"""Check whether brokers are ready, in Kafka's protocol over a plain socket.

Log messages would differ between versions and come too early; kgroups' client is what these clusters test.
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
    """Leader (-1 for none) and replicas of each partition of the offsets topic; empty if there is no such topic yet."""


class _Connection:
    """A connection to one broker, with one request at a time.

    :raises OSError: (every method) when the broker does not respond as a Kafka broker.
    """

    def __init__(self, host: str, port: int, timeout: float) -> None:
        self._socket = socket.create_connection((host, port), timeout)

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, api: int, version: int, body: bytes = b"") -> _Reader:
        # Request header v1: API key, API version, correlation ID, client ID.
        request = struct.pack(">hhi", api, version, 1) + _text("kgroups-sandbox") + body
        self._socket.sendall(struct.pack(">i", len(request)) + request)
        (length,) = struct.unpack(">i", self._receive(4))
        return _Reader(self._receive(length)[4:])  # after the correlation ID

    def _receive(self, count: int) -> bytes:
        received = b""
        while len(received) < count:
            piece = self._socket.recv(count - len(received))
            if not piece:
                raise ConnectionResetError("the broker closed the connection")
            received += piece
        return received

    def api_versions(self) -> dict[int, int]:
        """Return the newest version of each API."""
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
        """Return the error code. The first request creates the offsets topic."""
        return self.ask(_FIND_COORDINATOR, 0, _text(group)).int16()

    def describe_groups(self, names: Sequence[str]) -> dict[str, int]:
        """Return the error code of each: 0 for a group that does not exist, unless the broker is not ready."""
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
        """Return the error code, which is not 0 while the broker loads groups."""
        return self.ask(_LIST_GROUPS, 0).int16()


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def why_not_ready(brokers: Mapping[int, tuple[str, int]], *, timeout: float = 3.0) -> str | None:
    """Return why these brokers (ID -> host, port) cannot serve groups yet, or ``None`` if they are ready.

    When ready, each one responds, knows all the others and a leader for every partition of the offsets topic with a
    replica on one of them, and has loaded those that it leads.
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
    # A broker knows that it leads a partition a moment before it starts to load it, and lists no groups in that moment.
    # So check each partition with a group ID that hashes to it.
    own = [name for partition, name in _a_group_for_each(len(leaders)).items() if leaders[partition][0] == broker]
    for name, code in connection.describe_groups(own).items():
        if code:
            return f"does not serve the partition of group {name} yet (error {code})"
    if code := connection.list_groups():
        return f"still loads its groups (error {code})"
    return None


@cache
def _a_group_for_each(partitions: int) -> dict[int, str]:
    """Return partition of the offsets topic -> the ID of an unused group that hashes to it."""
    found: dict[int, str] = {}
    names = (f"kgroups-probe-{number}" for number in count())
    while len(found) < partitions:
        name = next(names)
        found.setdefault(_partition_of(name, partitions), name)
    return found


def _partition_of(group: str, partitions: int) -> int:
    """Return the partition of a group by Kafka's rule: Java's hash of the name, as a positive number."""
    code = 0
    for character in group:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return (0 if code == 0x80000000 else min(code, 0x100000000 - code)) % partitions


def api_versions(host: str, port: int, *, timeout: float = 3.0) -> dict[int, int]:
    """Return the newest version of each API that the broker supports.

    :raises OSError: when it does not respond.
    """
    with _Connection(host, port, timeout) as connection:
        return connection.api_versions()
