"""Serve metrics over HTTP, to clients that may be slow, many, or hostile."""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler

Start = Callable[..., Any]
App = Callable[[dict[str, Any], Start], Iterable[bytes]]
"""An application by WSGI. This module, whose constants the command needs, does not import prometheus-client."""

CONNECTIONS = 16
"""Maximum number of requests that are answered at the same time, each with a thread. Prometheus scrapes again."""

OPEN = 256
"""Maximum number of other connections: further ones take the place of the oldest one."""

REQUEST_SECONDS = 5.0
"""Time limit for a whole request to arrive."""

RESPONSE_SECONDS = 30.0
"""Time limit for the client to read a whole response."""

HEALTH = (b"/healthz", b"/ready")
"""Paths that are answered however many requests there are."""

_LONGEST = 65_536
"""Bytes of a request."""

_PART = 262_144
"""Bytes of a response that are buffered for a slow client."""

_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 29\r\n\r\n503: too many requests; retry"


def serve(app: App, host: str, port: int, *, tls: ssl.SSLContext | None = None, connections: int = CONNECTIONS) -> int:
    """Serve on other threads; return the port.

    :param host: ``""`` for all interfaces.
    :param connections: maximum number of requests that are answered at the same time, except :data:`HEALTH`.
    :raises OSError: if the address cannot be bound.
    """
    host = host or "0.0.0.0"
    family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
    listener = socket.socket(family)
    # Otherwise, the port is taken for a minute after the last connection; it is still taken while a process listens.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(OPEN)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    server = _Server(app, listener, tls, connections)
    threading.Thread(target=lambda: asyncio.run(server.run()), name="exporter", daemon=True).start()
    return int(listener.getsockname()[1])


class _Server:
    """Reads requests without a thread for each: a connection without a request costs a socket."""

    def __init__(self, app: App, listener: socket.socket, tls: ssl.SSLContext | None, connections: int) -> None:
        self._listener, self._tls, self._free = listener, tls, connections
        self._open: dict[asyncio.Task[None], str] = {}
        """The address of each connection without a thread, the oldest first."""
        name, port = listener.getsockname()[:2]
        environ = {"SERVER_NAME": name, "SERVER_PORT": str(port), "GATEWAY_INTERFACE": "CGI/1.1", "SCRIPT_NAME": ""}
        self._site = SimpleNamespace(base_environ=environ, get_app=lambda: app)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                peer, address = await loop.sock_accept(self._listener)
            except OSError:  # the client has disconnected, or there are no sockets
                await asyncio.sleep(0.05)
                continue
            if len(self._open) >= OPEN:
                self._close_oldest()
            task = loop.create_task(self._serve(peer, address))
            self._open[task] = str(address[0])
            task.add_done_callback(partial(self._ended, peer))

    def _ended(self, peer: socket.socket, task: asyncio.Task[None]) -> None:
        self._open.pop(task, None)
        peer.close()  # here: a task that is cancelled before it starts closes nothing
        if not task.cancelled():
            task.exception()  # clients may disconnect at any time, and a failed poll is a metric

    def _close_oldest(self) -> None:
        """Close the oldest connection of the address that has the most."""
        ((most, _),) = Counter(self._open.values()).most_common(1)
        oldest = next(task for task, address in self._open.items() if address == most)
        self._open.pop(oldest)
        oldest.cancel()

    async def _serve(self, peer: socket.socket, address: Any) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(_LONGEST)
        transport: Any = None
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                transport, protocol = await loop.connect_accepted_socket(
                    lambda: asyncio.StreamReaderProtocol(reader),
                    peer,
                    ssl=self._tls,
                    ssl_shutdown_timeout=None if self._tls is None else REQUEST_SECONDS,
                )
                request = await _request(reader)
            writer = asyncio.StreamWriter(transport, protocol, reader, loop)
            await self._respond(request, address, writer)
            writer.close()
            async with asyncio.timeout(REQUEST_SECONDS):
                await writer.wait_closed()
        finally:
            if transport:
                transport.abort()

    async def _respond(self, request: bytes, address: Any, writer: asyncio.StreamWriter) -> None:
        path = request.split(b"\n", 1)[0].split(b" ")[1:2]
        if path and path[0].partition(b"?")[0] in HEALTH:
            await _send(writer, self._answer(request, address), REQUEST_SECONDS)
            return
        task = asyncio.current_task()
        assert task
        if not self._free:
            await _send(writer, [_BUSY], REQUEST_SECONDS)
            return
        self._free -= 1
        home = self._open.pop(task, "")
        try:
            await _send(writer, await self._in_thread(request, address), RESPONSE_SECONDS)
        finally:
            self._free += 1
            self._open[task] = home

    async def _in_thread(self, request: bytes, address: Any) -> list[bytes]:
        """Return the response of the application, from a thread that does not outlive the process."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[list[bytes]] = loop.create_future()

        def work() -> None:
            found: list[bytes] = []
            try:
                found = self._answer(request, address)
            finally:
                with suppress(RuntimeError):  # the server has ended
                    loop.call_soon_threadsafe(done.set_result, found)

        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError:  # no thread can be started
            return [_BUSY]
        return await done

    def _answer(self, request: bytes, address: Any) -> list[bytes]:
        handler: Any = _Handler.__new__(_Handler)
        handler.rfile, handler.wfile = io.BytesIO(request), _Parts()
        handler.client_address, handler.server = address, self._site
        handler.handle()
        parts: list[bytes] = handler.wfile.parts
        return parts


class _Handler(WSGIRequestHandler):
    """Parses a request that has arrived, and runs the application."""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""


class _Parts(io.RawIOBase):
    """A response, in the parts in which it was written: the metrics can be large, and are not copied."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.parts.append(bytes(data))  # no copy of bytes
        return len(data)


async def _request(reader: asyncio.StreamReader) -> bytes:
    """Return a request up to the empty line after its headers.

    :raises OSError, ValueError: if the client disconnects before, or if it is too large.
    """
    found = b""
    while len(found) <= _LONGEST:
        line = await reader.readline()
        if not line:
            raise ConnectionResetError("the client has disconnected")
        found += line
        if not line.strip():
            return found
    raise ValueError("the request is too large")


async def _send(writer: asyncio.StreamWriter, parts: Iterable[bytes], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        for part in parts:
            for start in range(0, len(part), _PART):
                writer.write(memoryview(part)[start : start + _PART])
                await writer.drain()
