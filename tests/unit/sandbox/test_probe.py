"""Readiness of a broker, with a scripted one."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kgroups.sandbox.probe import api_versions, why_not_ready

METADATA, FIND_COORDINATOR, DESCRIBE_GROUPS, LIST_GROUPS, API_VERSIONS = 3, 10, 15, 16, 18


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def metadata(brokers: list[int], leaders: list[int], topic: str = "__consumer_offsets") -> bytes:
    body = struct.pack(">i", len(brokers))
    for broker in brokers:
        body += struct.pack(">i", broker) + text("h") + struct.pack(">i", 9) + struct.pack(">h", -1)
    body += (
        struct.pack(">ii", brokers[0], 1) + struct.pack(">h", 0) + text(topic) + b"\1" + struct.pack(">i", len(leaders))
    )
    for index, leader in enumerate(leaders):
        body += struct.pack(">hii", 0, index, leader) + struct.pack(">ii", 1, 1) + struct.pack(">ii", 1, 1)
    return body


def described(*codes: int, members: int = 0) -> bytes:
    """Groups that do not exist, each with an error code."""
    groups = [
        struct.pack(">h", code) + text(f"g{at}") + text("Dead") + text("") + text("") for at, code in enumerate(codes)
    ]
    return struct.pack(">i", len(codes)) + b"".join(group + struct.pack(">i", members) for group in groups)


READY = {
    API_VERSIONS: struct.pack(">hi", 0, 2) + struct.pack(">hhh", 10, 0, 4) + struct.pack(">hhh", 16, 0, 5),
    METADATA: metadata([1], [1, 1]),
    FIND_COORDINATOR: struct.pack(">h", 0),
    DESCRIBE_GROUPS: described(0, 0),
    LIST_GROUPS: struct.pack(">hi", 0, 0),
}


@contextmanager
def broker(answers: dict[int, bytes]) -> Iterator[int]:
    """Start a broker with these responses; it closes the connection if one is missing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server, answers), daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def serve(server: socket.socket, answers: dict[int, bytes]) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        with client:
            while head := client.recv(4):
                request = client.recv(struct.unpack(">i", head)[0])
                answer = answers.get(struct.unpack_from(">h", request)[0])
                if answer is None:
                    break
                client.sendall(struct.pack(">i", len(answer) + 4) + request[4:8] + answer)


def missing(**changed: bytes | None) -> str | None:
    names = {
        "api_versions": API_VERSIONS,
        "metadata": METADATA,
        "coordinator": FIND_COORDINATOR,
        "groups": LIST_GROUPS,
        "described": DESCRIBE_GROUPS,
    }
    answers = READY | {names[name]: answer for name, answer in changed.items() if answer is not None}
    for name in [name for name, answer in changed.items() if answer is None]:
        del answers[names[name]]
    with broker(answers) as port:
        found = why_not_ready({1: ("127.0.0.1", port)})
    return found and found.partition(f"{port}: ")[2]


def test_ready_broker_has_nothing_missing() -> None:
    assert missing() is None


@pytest.mark.parametrize(
    ("changed", "reported"),
    [
        ({"metadata": metadata([7], [7])}, "does not know broker 1 yet"),
        ({"metadata": metadata([1], [-1, 1])}, "1 partitions of __consumer_offsets have no leader yet"),
        ({"metadata": metadata([1], [1], "other")}, "all partitions of __consumer_offsets have no leader yet"),
        (
            {"metadata": metadata([1], [1], "other"), "coordinator": struct.pack(">h", 15)},
            "has no group coordinator yet (error 15)",
        ),
        ({"groups": struct.pack(">h", 14)}, "still loads its groups (error 14)"),
        ({"described": described(0, 16)}, "does not serve the partition of group g1 yet (error 16)"),
        ({"described": described(0, members=3)}, "there is a group named g0, with members"),
        ({"api_versions": struct.pack(">h", 35)}, "ApiVersions: error 35"),
        ({"groups": None}, "the broker closed the connection"),
    ],
)
def test_unready_broker_names_what_is_missing(changed: dict[str, bytes | None], reported: str) -> None:
    assert missing(**changed) == reported


def test_closed_port_is_not_ready() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        found = why_not_ready({1: ("127.0.0.1", held.getsockname()[1])})
    assert found is not None
    assert "refused" in found


def test_api_versions_returns_newest_versions() -> None:
    with broker(READY) as port:
        assert api_versions("127.0.0.1", port) == {10: 4, 16: 5}
