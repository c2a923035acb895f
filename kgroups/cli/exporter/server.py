"""Serve metrics over HTTP, to clients that may be slow, many, or hostile."""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from .exposition import App

CONNECTIONS = 16
"""Maximum number of connections, each with a thread. Further ones are closed at once: Prometheus scrapes again."""

REQUEST_SECONDS = 5.0
"""Time limit for a whole request to arrive."""

RESPONSE_SECONDS = 30.0
"""Time limit for the client to read a whole response."""


def serve(app: App, host: str, port: int, *, tls: ssl.SSLContext | None = None, connections: int = CONNECTIONS) -> int:
    """Serve on other threads; return the port.

    :param host: ``""`` for all interfaces.
    :raises OSError: if the address cannot be bound.
    """
    server = _server_class(host)((host, port), _Handler, tls, connections)
    server.set_app(app)
    threading.Thread(target=server.serve_forever, name="exporter", daemon=True).start()
    return int(server.server_port)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 16

    def __init__(self, address: tuple[str, int], handler: Any, tls: ssl.SSLContext | None, connections: int) -> None:
        self._tls = tls
        self._free = threading.BoundedSemaphore(connections)
        super().__init__(address, handler)

    def server_bind(self) -> None:
        # Not HTTPServer's method, which resolves the host name: that may take long.
        socket.socket.bind(self.socket, self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no thread can be started
            self._free.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            if self._tls is not None:
                request.settimeout(REQUEST_SECONDS)
                try:
                    request = self._tls.wrap_socket(request, server_side=True)
                except OSError:  # not a TLS client, or it does not finish the handshake
                    self.shutdown_request(request)
                    return
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing: clients may disconnect at any time, and a failed poll is a metric."""


def _server_class(host: str) -> type[_Server]:
    family = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
    return type("_FamilyServer", (_Server,), {"address_family": family})


class _Handler(WSGIRequestHandler):
    """Reads one request within the time limits."""

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_DeadlineReader(self.request, time.monotonic() + REQUEST_SECONDS))

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # request or response incomplete in time, or the client disconnected
            self.close_connection = True

    def get_environ(self) -> dict[str, Any]:
        self.request.settimeout(RESPONSE_SECONDS)  # the request has arrived; this limits sendall() as a whole
        return super().get_environ()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""


class _DeadlineReader(io.RawIOBase):
    """A socket that is read until a deadline, however slowly the bytes arrive."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("the request took too long to arrive")
        self._connection.settimeout(remaining)
        return self._connection.recv_into(buffer)
