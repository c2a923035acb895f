"""The exporter's HTTP server with misbehaving clients."""

from __future__ import annotations

import base64
import resource
import select
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge, make_wsgi_app
from prometheus_client.core import Metric

from kgroups.errors import UsageError
from kgroups.exporter import server as exporter_server
from kgroups.exporter.pages import pages, read_users
from kgroups.exporter.run import _tls
from kgroups.exporter.server import serve as serve_app


def serve(registry: CollectorRegistry, host: str, port: int, users: dict[str, str] | None = None, **rest: Any) -> int:
    return serve_app(pages(make_wsgi_app(registry), lambda: None, users), host, port, **rest)


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


@pytest.mark.parametrize("path", ["/metrics", "/metrics?name[]=up"])
def test_server_serves_metrics_at_usual_paths(port: int, path: str) -> None:
    assert "up 1.0" in get(port, path)


@pytest.mark.parametrize("path", ["/metrics/", "/favicon.ico", "/../etc/passwd", "//x", "/debug"])
def test_server_other_paths_are_404(port: int, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(port, path)
    assert refused.value.code == 404 and b"/metrics" in refused.value.read()


@pytest.mark.parametrize(("path", "text"), [("/healthz", "ok"), ("/ready", "ready"), ("/", "/metrics")])
def test_server_health_pages(port: int, path: str, text: str) -> None:
    assert text in get(port, path)


def test_server_requires_user_for_metrics_only(tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("ann:a:b\n\nbob:ünï\n")
    file.chmod(0o600)
    port = serve(CollectorRegistry(), "127.0.0.1", 0, read_users(file))

    def status(words: str | None, path: str = "/metrics") -> int:
        headers = {} if words is None else {"Authorization": words}
        try:
            with urllib.request.urlopen(
                urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
            ) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    def basic(text: str) -> str:
        return "Basic " + base64.b64encode(text.encode()).decode()

    assert [status(basic(text)) for text in ("ann:a:b", "bob:ünï")] == [200, 200]
    refused = (None, "", "Basic", "Basic !", "Bearer x", basic("ann:a"), basic("eve:"), basic("ann"), basic(":"))
    assert [status(words) for words in refused] == [401] * len(refused)
    assert [status(None, path) for path in ("/healthz", "/ready")] == [200, 200]


@pytest.mark.parametrize(("text", "mode"), [("", 0o600), ("ann", 0o600), (":x", 0o600), ("ann:b", 0o644)])
def test_user_file_without_users_or_with_open_mode_is_rejected(tmp_path: Path, text: str, mode: int) -> None:
    file = tmp_path / "users"
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(UsageError, match="--basic-auth"):
        read_users(file)


def test_server_speaks_tls_and_survives_other_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command, *names, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = _tls(certificate, key)
    with pytest.raises(UsageError, match="given together"):
        _tls(certificate, None)
    with pytest.raises(UsageError, match="cannot load"):
        _tls(key, key)
    monkeypatch.setattr(exporter_server, "REQUEST_SECONDS", 0.5)
    registry = CollectorRegistry()
    Gauge("up", "Whether it is up", registry=registry).set(1)
    port = serve(registry, "127.0.0.1", 0, tls=context, connections=1)
    for sent in (b"", b"GET /metrics HTTP/1.0\r\n\r\n"):  # a client that is silent, and one without TLS
        peer = connect(port)
        peer.sendall(sent)
        assert b" 200 " not in ended(peer)
    trusted = ssl.create_default_context(cafile=str(certificate))

    def scraped() -> bool:
        with urllib.request.urlopen(f"https://127.0.0.1:{port}/metrics", context=trusted, timeout=30) as answer:
            return b"up 1.0" in answer.read()

    _until(scraped)


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
    registry = CollectorRegistry()
    registry.register(Large())  # type: ignore[arg-type]
    port = serve(registry, "127.0.0.1", 0, connections=1)
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
    monkeypatch.setattr(exporter_server, "REQUEST_SECONDS", 1.0)
    registry = CollectorRegistry()
    Gauge("up", "Whether it is up", registry=registry).set(1)
    port = serve(registry, "127.0.0.1", 0, connections=4)
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


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process have more open files than most systems allow by default."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4096, hard)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("begun", [b"", b"GET /metrics HTTP/1.1\r\nHost: x\r\nA: "])
def test_server_answers_while_a_thousand_connections_are_half_open(port: int, begun: bytes, connect: Connect) -> None:
    before = threading.active_count()
    peers = []
    for number in range(1000):
        peer = connect(port)
        with suppress(OSError):  # the oldest are closed
            peer.sendall(begun)
        peers.append(peer)
        if number % 100 == 99:
            assert get(port, "/healthz") == "ok\n" and get(port, "/ready") == "ready\n" and "up 1.0" in get(port)
    assert threading.active_count() <= before + 1
    poll = select.poll()
    for peer in peers:
        poll.register(peer, select.POLLIN)
    assert len(peers) - len(poll.poll(0)) <= exporter_server.OPEN


def test_server_under_scrapes_that_do_not_end_reports_health_and_rejects_scrapes(connect: Connect) -> None:
    asked, answered = threading.Semaphore(0), threading.Event()

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        asked.release()
        assert answered.wait(60)
        start_response("200 OK", [])
        return [b"up 1.0"]

    port = serve_app(pages(app, lambda: None), "127.0.0.1", 0, connections=2)
    held = [connect(port) for _ in range(2)]
    for peer in held:
        peer.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert asked.acquire(timeout=60)
    assert get(port, "/healthz") == "ok\n" and get(port, "/ready") == "ready\n"
    with pytest.raises(urllib.error.HTTPError) as rejected:
        get(port)
    with rejected.value as answer:
        assert (answer.code, answer.headers["Retry-After"]) == (503, "1")
    answered.set()
    assert [ended(peer).endswith(b"up 1.0") for peer in held] == [True, True]


def test_connections_of_one_address_take_no_place_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter_server, "OPEN", 4)
    port = serve(CollectorRegistry(), "0.0.0.0", 0)
    with ExitStack() as peers:

        def connect_from(address: str) -> socket.socket:
            return peers.enter_context(
                socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(address, 0))
            )

        quiet = connect_from("127.0.0.2")
        quiet.sendall(b"GET /healthz HTTP/1.0\r\n")
        flood = [connect_from("127.0.0.3") for _ in range(20)]
        assert sum(ended(peer) == b"" for peer in flood[:-4]) == 16
        quiet.sendall(b"\r\n")
        assert ended(quiet).endswith(b"ok\n")


def test_server_starts_again_at_once_on_its_port() -> None:
    code = (
        "import sys; from kgroups.exporter.server import serve\n"
        "print(serve(lambda environ, start: [start('200 OK', []) and b'' or b'up'], '127.0.0.1', int(sys.argv[1])))"
        "; sys.stdout.flush(); sys.stdin.read()"
    )

    def started(port: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", code, str(port)]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    port = 0
    for _ in range(3):
        with started(port) as process:
            assert process.stdout
            port = int(process.stdout.readline())
            assert get(port) == "up"  # the server closes this connection first
            with started(port) as second:
                assert "Address already in use" in second.communicate()[1]
            process.kill()


def test_server_without_threads_rejects_scrapes_and_reports_health(
    port: int, monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        peer = connect(port)
        peer.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        assert b" 503 " in ended(peer).splitlines()[0]
        assert "ok" in get(port, "/healthz")
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
