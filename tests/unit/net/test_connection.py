from __future__ import annotations

import asyncio
import errno
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from kgroups.errors import BrokerUnavailable, RemoteProtocolError
from kgroups.net.connection import Connection, ConnectionLost, Exchange, reason_of
from kgroups.net.dial import dial
from kgroups.protocol.apis.find_coordinator import FindCoordinator
from kgroups.protocol.apis.list_groups import ListGroups
from tests.fakes import broker as faults
from tests.fakes.broker import FakeCluster

pytestmark = pytest.mark.usefixtures("virtual_time")

T = TypeVar("T")


def with_connection(
    fake: FakeCluster, work: Callable[[Connection], Awaitable[T]], seen: list[Exchange] | None = None
) -> T:
    async def run() -> T:
        async with fake:
            connection = await dial(
                "127.0.0.1",
                fake.brokers[0].port,
                name="b0",
                client_id="test",
                timeout=3,
                observer=seen.append if seen is not None else None,
            )
            try:
                return await work(connection)
            finally:
                connection.close()
                await asyncio.sleep(0)

    return asyncio.run(run())


@pytest.fixture
def fake() -> FakeCluster:
    return FakeCluster(1)


def test_calls_are_pipelined_on_one_connection(fake: FakeCluster) -> None:
    async def work(connection: Connection) -> list[object]:
        return await asyncio.gather(*(connection.call(FindCoordinator((f"g{at}",)), 1, 3) for at in range(50)))

    answers = with_connection(fake, work)
    assert [next(iter(answer)) for answer in answers] == [f"g{at}" for at in range(50)]
    assert fake.brokers[0].connections == 1


def test_response_sent_byte_by_byte_is_read(fake: FakeCluster) -> None:
    fake.state.group("g")
    fake.brokers[0].fault("ListGroups", faults.dribble)
    answer = with_connection(fake, lambda connection: connection.call(ListGroups(), 5, 3))
    assert [entry.group_id for entry in answer.entries] == ["g"]


def test_silent_broker_is_unavailable_after_timeout_and_names_the_api(fake: FakeCluster) -> None:
    fake.brokers[0].fault("ListGroups", faults.silence)
    with pytest.raises(BrokerUnavailable, match=r"b0: no response to ListGroups within 0\.05 s"):
        with_connection(fake, lambda connection: connection.call(ListGroups(), 5, 0.05))


def test_late_response_does_not_disturb_other_calls(fake: FakeCluster) -> None:
    fake.brokers[0].fault("ListGroups", faults.late(0.15), times=1)

    async def work(connection: Connection) -> object:
        with pytest.raises(BrokerUnavailable):
            await connection.call(ListGroups(), 5, 0.05)
        return await connection.call(FindCoordinator(("g",)), 1, 3)

    assert with_connection(fake, work)


@pytest.mark.parametrize(
    ("fault", "words"),
    [(faults.close, "b0: closed the connection$"), (faults.cut_frame, r"closed the connection, \d+ bytes into")],
)
def test_closed_connection_fails_all_waiting_calls(fake: FakeCluster, fault: faults.Fault, words: str) -> None:
    fake.brokers[0].fault("ListGroups", fault)

    async def work(connection: Connection) -> list[object]:
        calls = [connection.call(ListGroups(), 5, 3), connection.call(FindCoordinator(("g",)), 1, 3)]
        results: list[object] = await asyncio.gather(*calls, return_exceptions=True)
        assert not connection.usable
        with pytest.raises(ConnectionLost):
            await connection.call(ListGroups(), 5, 3)
        return results

    results = with_connection(fake, work)
    assert [type(result) for result in results] == [ConnectionLost, ConnectionLost]
    with pytest.raises(ConnectionLost, match=words):
        raise results[0]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.wrong_id, "unexpected correlation ID"),
        (faults.raw(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "b0: the port speaks HTTP"),
        (faults.raw(b"\x7f\xff\xff\xff"), "a frame of 2147483647 bytes"),
        (faults.truncated(-1), "ListGroups v5: undecodable ListGroupsResponse"),
        (faults.truncated(4), "ListGroups v5"),
        (faults.trailing, "3 bytes after the end of ListGroupsResponse"),
    ],
)
def test_invalid_response_is_a_remote_protocol_error(fake: FakeCluster, fault: faults.Fault, words: str) -> None:
    fake.state.group("g")
    fake.brokers[0].fault("ListGroups", fault)
    with pytest.raises(RemoteProtocolError, match=words):
        with_connection(fake, lambda connection: connection.call(ListGroups(), 5, 3))


def test_unrequested_response_breaks_the_connection(fake: FakeCluster) -> None:
    fake.brokers[0].fault("ListGroups", faults.raw(faults.framed(b"\0\0\0\1\0\0") * 2), times=1)

    async def work(connection: Connection) -> None:
        with pytest.raises(RemoteProtocolError):
            await connection.call(ListGroups(), 0, 3)
        await asyncio.sleep(0.02)
        assert not connection.usable

    with_connection(fake, work)


def test_closed_port_is_unavailable() -> None:
    fake = FakeCluster(1)
    fake.brokers[0].alive = False
    with pytest.raises(BrokerUnavailable, match="b0: connection refused"):
        with_connection(fake, lambda connection: connection.call(ListGroups(), 5, 3))


def test_unresolvable_host_is_unavailable() -> None:
    with pytest.raises(BrokerUnavailable, match="nowhere: "):
        asyncio.run(dial("no-such-host.invalid", 1, name="nowhere", client_id="t", timeout=3))


@pytest.mark.parametrize(
    ("host", "port"), [("a..b", 1), ("x" * 70, 1), ("\udcff", 1), ("a\0b", 1), ("127.0.0.1", 99_999)]
)
def test_invalid_address_is_unavailable(host: str, port: int) -> None:
    with pytest.raises(BrokerUnavailable, match="odd: "):
        asyncio.run(dial(host, port, name="odd", client_id="t", timeout=3))


def test_silent_name_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    late = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: late.wait(30) and [])
    began = time.monotonic()
    with pytest.raises(BrokerUnavailable, match=r"slow: no connection within 0\.1 s"):
        asyncio.run(dial("slow.example", 1, name="slow", client_id="t", timeout=0.1))
    assert time.monotonic() - began < 10
    late.set()


def test_dial_tries_all_addresses_of_a_host(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 1)) for address in ("127.0.0.9", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answer)

    async def run() -> None:
        async with fake:
            port = fake.brokers[0].port
            (await dial("two.example", port, name="b0", client_id="t", timeout=3)).close()

    asyncio.run(run())


def test_observer_sees_each_exchange_and_failure(fake: FakeCluster) -> None:
    seen: list[Exchange] = []
    fake.brokers[0].fault("ListGroups", faults.close)

    async def work(connection: Connection) -> None:
        await connection.call(FindCoordinator(("a", "b")), 4, 3)
        with pytest.raises(ConnectionLost):
            await connection.call(ListGroups(), 5, 3)

    with_connection(fake, work, seen)
    good, bad = seen
    assert (good.broker, good.api, good.version, good.keys, good.error) == ("b0", "FindCoordinator", 4, 2, None)
    assert good.sent > 20 and good.received > 20 and 0 < good.seconds < 3
    assert (bad.api, bad.received) == ("ListGroups", 0) and bad.error


@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 49202)"), "connection refused"),
        (OSError(errno.EHOSTUNREACH, "Connect call failed ('10.0.0.1', 9092)"), "no route to host"),
        (socket.gaierror(-2, "Name or service not known"), "name or service not known"),
        (OSError("odd"), "odd"),
    ],
)
def test_reason_of_os_error_is_the_system_message(error: OSError, reported: str) -> None:
    """Not asyncio's words, which repeat the address."""
    assert reason_of(error) == reported
