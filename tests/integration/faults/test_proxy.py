"""Faults of the proxy, tested with a client that sends lines and a server that repeats them."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from kgroups.sandbox.ports import HOST
from tests.integration.faults.proxy import NO_FAULT, Fault, Proxy

LINE = b"0123456789abcde\n"
PATIENCE = 20.0
"""Seconds for what must come."""
SILENCE = 0.3
"""Seconds for what must not come."""


class Echo(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        with suppress(ConnectionError):
            while line := self.rfile.readline():
                self.wfile.write(line)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with socketserver.ThreadingTCPServer((HOST, 0), Echo) as server, Proxy(1) as between:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        between.start({1: server.server_address[1]})
        try:
            yield between
        finally:
            between.stop()
            server.shutdown()
            thread.join()


def connected(proxy: Proxy) -> socket.socket:
    return socket.create_connection((HOST, proxy.ports[1]), timeout=PATIENCE)


def hear(client: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer where the connection ends."""
    heard = b""
    while len(heard) < size and (data := client.recv(size - len(heard))):
        heard += data
    return heard


def is_silent(client: socket.socket) -> bool:
    client.settimeout(SILENCE)
    try:
        return not client.recv(1) and False
    except TimeoutError:
        return True
    finally:
        client.settimeout(PATIENCE)


def echo(client: socket.socket) -> bytes:
    client.sendall(LINE)
    return hear(client, len(LINE))


def test_proxy_forwards_both_directions(proxy: Proxy) -> None:
    big = b"x" * 3_000_000 + b"\n"
    with connected(proxy) as client:
        threading.Thread(target=client.sendall, args=(big,)).start()
        assert hear(client, len(big)) == big
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""


def test_proxy_delays_chosen_directions(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert echo(client) == LINE
        for directions, least in ((("requests",), 0.3), (("requests", "responses"), 0.6)):
            proxy.set(Fault(delay=0.35, jitter=0.05, directions=directions))  # type: ignore[arg-type]
            began = time.monotonic()
            assert echo(client) == LINE
            assert time.monotonic() - began >= least


def test_proxy_limits_bandwidth(proxy: Proxy) -> None:
    with connected(proxy) as client, proxy.faulty(Fault(rate=50_000, directions=("responses",))):
        began = time.monotonic()
        client.sendall(b"x" * 49_999 + b"\n")
        assert len(hear(client, 50_000)) == 50_000
        assert time.monotonic() - began >= 0.5  # the last chunk is there before its time is over


@pytest.mark.parametrize("direction", ["requests", "responses"])
def test_proxy_cuts_each_connection_after_some_bytes(proxy: Proxy, direction: str) -> None:
    with proxy.faulty(Fault(cut=20, directions=(direction,))):  # type: ignore[arg-type]
        for _ in range(2):
            with connected(proxy) as client:
                assert echo(client) == LINE
                assert echo(client) == (LINE[:4] if direction == "responses" else b"")
    with connected(proxy) as client:
        assert echo(client) + echo(client) == 2 * LINE


def test_proxy_fault_applies_to_some_connections(proxy: Proxy) -> None:
    proxy.set(Fault(cut=0, directions=("responses",), times=1))
    with connected(proxy) as first:
        assert echo(first) == b""
    with connected(proxy) as second:
        assert echo(second) == LINE


def test_proxy_resets_connections(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert echo(client) == LINE
        with proxy.faulty(Fault(reset=True)):
            with pytest.raises(ConnectionResetError):
                client.recv(1)
            with pytest.raises(ConnectionError), connected(proxy) as another:
                another.recv(1)


def test_proxy_half_open_connections_are_silent(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert echo(client) == LINE
        proxy.set(Fault(half_open=True))
        with connected(proxy) as another:
            for silent in (client, another):
                silent.sendall(LINE)
                assert is_silent(silent)
            proxy.set(NO_FAULT)
            with pytest.raises(ConnectionResetError):
                client.recv(1)
    with connected(proxy) as client:
        assert echo(client) == LINE


def test_proxy_black_hole_drops_data(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert echo(client) == LINE
        proxy.set(Fault(black_hole=True))
        client.sendall(LINE)
        assert is_silent(client)
        with pytest.raises(TimeoutError):
            socket.create_connection((HOST, proxy.ports[1]), timeout=SILENCE)
        proxy.set(NO_FAULT)
        assert hear(client, len(LINE)) == LINE
        with connected(proxy) as another:
            assert echo(another) == LINE


def test_proxy_mutes_one_direction(proxy: Proxy) -> None:
    proxy.set(Fault(mute=True, directions=("responses",)))
    with connected(proxy) as client:
        client.sendall(LINE)
        assert is_silent(client)
        proxy.set(NO_FAULT)
        assert hear(client, len(LINE)) == LINE


def test_proxy_fault_starts_at_a_request(proxy: Proxy) -> None:
    """A request is a length and an API key; here the fault comes with the third, which begins in the second's chunk."""
    requests = [struct.pack(">ih", 11, key) + b"12345678\n" for key in (3, 16, 8)]
    with connected(proxy) as client, proxy.faulty_at([8, 9], Fault(cut=0, directions=("responses",)), 1):
        client.sendall(requests[0][:3])
        client.sendall(requests[0][3:])
        assert hear(client, 15) == requests[0]
        client.sendall(requests[1] + requests[2][:5])
        assert hear(client, 15) == requests[1]
        client.sendall(requests[2][5:])
        assert hear(client, 15) == b""
    with connected(proxy) as client:
        client.sendall(requests[2])
        assert hear(client, 15) == requests[2]


def test_proxy_refuses_connections(proxy: Proxy) -> None:
    with connected(proxy) as earlier:
        assert echo(earlier) == LINE
        with proxy.faulty(Fault(refused=True)):
            for _ in range(2):
                with pytest.raises(ConnectionRefusedError):
                    connected(proxy)
        with connected(proxy) as client:
            assert echo(client) == LINE


def test_proxy_records_requests_and_responses(proxy: Proxy) -> None:
    """The server answers each line; the second request ends without one."""
    with connected(proxy) as client:
        client.sendall(struct.pack(">ih", 11, 3) + b"12345678\n" + struct.pack(">ih", 6, 16) + b"1234")
        hear(client, 15)
        assert [(each.broker, each.api, each.answered) for each in proxy.record()] == [(1, 3, True), (1, 16, False)]
        assert proxy.record() == []
        client.sendall(struct.pack(">ih", 11, 8) + b"12345678\n")
        hear(client, 25)
        (last,) = proxy.record()
        assert last.answered


def test_proxy_keeps_connection_accepted_as_a_fault_starts(proxy: Proxy) -> None:
    """The loop has accepted it when the fault begins, and nothing has run since."""

    async def connect_and_refuse() -> socket.socket:
        client = connected(proxy)
        for _ in range(2):
            await asyncio.sleep(0)
        await proxy.fronts[1].set(Fault(refused=True))
        return client

    with asyncio.run_coroutine_threadsafe(connect_and_refuse(), proxy.loop).result(PATIENCE) as client:
        assert proxy.fronts[1].accepted == 1
        assert echo(client) == LINE
