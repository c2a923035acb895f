"""The exporter's HTTP server with misbehaving clients."""

from __future__ import annotations

import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.core import Metric

from kgroups.cli.exporter import server as exporter_server
from kgroups.cli.exporter.server import serve


@pytest.fixture
def port() -> int:
    registry = CollectorRegistry()
    Gauge("up", "Whether it is up", registry=registry).set(1)
    return serve(registry, "127.0.0.1", 0)


def get(port: int, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        text: str = answer.read().decode()
    return text


Connect = Callable[[int], socket.socket]


@pytest.fixture
def connect() -> Iterator[Connect]:
    with ExitStack() as peers:
        yield lambda port: peers.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))


def ended(peer: socket.socket) -> bytes:
    """What it still says until it closes the connection."""
    output = b""
    try:
        while more := peer.recv(65536):
            output += more
    except ConnectionError:
        pass
    return output


@pytest.mark.parametrize("path", ["/metrics", "/", "/metrics?name[]=up"])
def test_server_serves_metrics_at_usual_paths(port: int, path: str) -> None:
    assert "up 1.0" in get(port, path)


@pytest.mark.parametrize("path", ["/metrics/", "/favicon.ico", "/../etc/passwd", "//x", "/debug"])
def test_server_other_paths_are_404(port: int, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(port, path)
    assert refused.value.code == 404 and b"/metrics" in refused.value.read()


@pytest.mark.parametrize("method", ["POST", "DELETE", "BREW"])
def test_server_other_methods_are_405(port: int, method: str, connect: Connect) -> None:
    peer = connect(port)
    peer.sendall(f"{method} /metrics HTTP/1.0\r\n\r\n".encode())
    assert b" 405 " in ended(peer).splitlines()[0]


def test_server_listens_on_ipv6(port: int) -> None:
    try:
        six = serve(CollectorRegistry(), "::1", 0)
    except OSError:
        pytest.skip("no IPv6 here")
    with socket.create_connection(("::1", six), timeout=30) as peer:
        peer.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert b" 200 " in ended(peer).splitlines()[0]


@pytest.mark.parametrize("begun", [b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: x\r\nA: "])
def test_server_drops_request_that_never_ends(
    port: int, begun: bytes, monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    monkeypatch.setattr(exporter_server, "REQUEST_SECONDS", 0.2)
    peer = connect(port)
    peer.sendall(begun)
    assert b" 200 " not in ended(peer)


def test_server_drops_request_sent_byte_by_byte(port: int, monkeypatch: pytest.MonkeyPatch, connect: Connect) -> None:
    monkeypatch.setattr(exporter_server, "REQUEST_SECONDS", 0.3)
    peer = connect(port)
    began = time.monotonic()
    with pytest.raises(OSError):
        while time.monotonic() - began < 30:
            peer.sendall(b"a")
            time.sleep(0.02)
    assert time.monotonic() - began < 20


def test_server_drops_client_that_reads_no_response(monkeypatch: pytest.MonkeyPatch, connect: Connect) -> None:
    class Large:
        def collect(self) -> Iterator[Metric]:
            large = Metric("large", "x" * 20_000_000, "gauge")
            large.add_sample("large", {}, 1)
            yield large

    monkeypatch.setattr(exporter_server, "RESPONSE_SECONDS", 0.2)
    monkeypatch.setattr(exporter_server, "CONNECTIONS", 1)
    registry = CollectorRegistry()
    registry.register(Large())  # type: ignore[arg-type]
    port = serve(registry, "127.0.0.1", 0)
    peer = connect(port)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
    until = time.monotonic() + 30
    while True:  # its thread is free again
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30).close()
            break
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.05)
    peer.close()


def test_server_caps_connections_and_keeps_serving_scrapes(monkeypatch: pytest.MonkeyPatch, connect: Connect) -> None:
    monkeypatch.setattr(exporter_server, "CONNECTIONS", 4)
    monkeypatch.setattr(exporter_server, "REQUEST_SECONDS", 1.0)
    registry = CollectorRegistry()
    Gauge("up", "Whether it is up", registry=registry).set(1)
    port = serve(registry, "127.0.0.1", 0)
    before = threading.active_count()
    held = []
    for _ in range(40):
        peer = connect(port)
        peer.sendall(b"GET /me")
        held.append(peer)
    assert threading.active_count() - before <= 4
    for peer in held:
        assert b" 200 " not in ended(peer)
    _until(lambda: "up 1.0" in get(port))


def test_server_without_threads_closes_the_connection(
    port: int, monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        assert ended(connect(port)) == b""
    assert "up 1.0" in get(port)


def _until(done: Callable[[], Any]) -> None:
    until = time.monotonic() + 30
    while True:
        try:
            if done():
                return
        except OSError:
            assert time.monotonic() < until
        time.sleep(0.05)
