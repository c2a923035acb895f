"""The server side of SASL for :class:`FakeBroker`: correct, or wrong in one way that a test selects.

Strategy: a mechanism is a generator that is sent the client's messages and yields the answers to them; it returns the
last one, or raises :class:`Refused`. A :class:`Guard` watches one connection and is strict about the order of requests,
as Kafka is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode
from scramp import ScramException, ScramMechanism

from .oracle import build

HANDSHAKE, AUTHENTICATE, API_VERSIONS = 17, 36, 18
RANGES = {HANDSHAKE: (0, 1), AUTHENTICATE: (0, 2)}
NAMES = {HANDSHAKE: "SaslHandshake", AUTHENTICATE: "SaslAuthenticate"}

BY_TOKEN = ",tokenauth=true"

Mechanism = Generator[bytes, bytes, bytes]
Bend = Callable[[str], str]


class Refused(Exception):
    """The error of a broker that rejects the client."""


def plain(users: dict[str, str]) -> Callable[[], Mechanism]:
    def serve() -> Mechanism:
        _, user, password = (yield b"").split(b"\0")
        if users.get(user.decode()) != password.decode():
            raise Refused("Authentication failed: Invalid username or password")
        return b""

    return serve


def scram(
    users: dict[str, str],
    mechanism: str = "SCRAM-SHA-256",
    first: Bend = lambda text: text,
    final: Bend = lambda text: text,
    reported: list[str] | None = None,
) -> Callable[[], Mechanism]:
    """:param first: what becomes of the server's first message; ``final``, of its last.
    :param reported: gets the client's messages.
    """
    how = ScramMechanism(mechanism)
    stored = {user: how.make_auth_info(password) for user, password in users.items()}

    def serve() -> Mechanism:
        server = how.make_server(stored.get)
        try:
            message = (yield b"").decode()
            if reported is not None:
                reported.append(message)
            server.set_client_first(message.removesuffix(BY_TOKEN))  # which scramp's servers do not know
            if message.endswith(BY_TOKEN):
                server.client_first_bare += BY_TOKEN
            server.set_client_final((yield first(server.get_server_first()).encode()).decode())
        except ScramException:
            raise Refused(f"Authentication failed due to invalid credentials with {mechanism}") from None
        return final(server.get_server_final()).encode()

    return serve


def bearer(accept: Callable[[str], bool], reported: list[str] | None = None) -> Callable[[], Mechanism]:
    def serve() -> Mechanism:
        message = (yield b"").decode()
        if reported is not None:
            reported.append(message)
        token = message.split("\1")[1].removeprefix("auth=Bearer ")
        if accept(token):
            return b""
        assert (yield b'{"status":"invalid_token"}') == b"\1"
        raise Refused('{"status":"invalid_token"}')

    return serve


def always(*answers: bytes) -> Callable[[], Mechanism]:
    """Return these messages to any client; after the last, the client is authenticated."""

    def serve() -> Mechanism:
        yield b""
        yield from answers[:-1]
        return answers[-1]

    return serve


@dataclass
class FakeSasl:
    """The SASL mechanisms of a listener."""

    mechanisms: dict[str, Callable[[], Mechanism]]
    lifetime: float | None = None
    """Seconds that a sign-in holds."""
    wanted: bool = True
    """Whether clients must authenticate."""
    attempts: int = 0
    refused: int = 0


@dataclass
class Guard:
    """The authentication state of one connection."""

    sasl: FakeSasl
    running: Mechanism | None = None
    let_in: bool = False
    ends: float = field(default=float("inf"))
    over: bool = False

    def admits(self, key: int) -> bool:
        """Return whether a request is allowed now; otherwise Kafka closes the connection."""
        if key in RANGES:
            return (key == AUTHENTICATE) == (self.running is not None)
        if self.running is not None:
            raise AssertionError("a request in the middle of a sign-in")
        if not self.sasl.wanted:
            return True
        return (self.let_in and time.monotonic() < self.ends) or (key == API_VERSIONS and not self.let_in)

    def answer(self, key: int, request: Any, kind: Any) -> Any:
        return self._handshake(request, kind) if key == HANDSHAKE else self._authenticate(request, kind)

    def _handshake(self, request: Any, kind: Any) -> Any:
        if not self.sasl.wanted:
            return build(kind, error_code=ErrorCode.illegal_sasl_state, mechanisms=())
        known = self.sasl.mechanisms.get(request.mechanism)
        if known:
            self.running = known()
            next(self.running)
        error = ErrorCode.none if known else ErrorCode.unsupported_sasl_mechanism
        self.over = not known
        return build(kind, error_code=error, mechanisms=tuple(self.sasl.mechanisms))

    def _authenticate(self, request: Any, kind: Any) -> Any:
        assert self.running is not None
        error, reason, message, lifetime = ErrorCode.none, None, b"", 0.0
        try:
            message = self.running.send(request.auth_bytes)
        except StopIteration as done:
            message = done.value
            self.sasl.attempts += 1
            self.running, self.let_in = None, True
            if self.sasl.lifetime is not None:
                lifetime = self.sasl.lifetime
                self.ends = time.monotonic() + lifetime
        except Refused as refused:
            self.sasl.attempts += 1
            self.sasl.refused += 1
            error, reason, self.over = ErrorCode.sasl_authentication_failed, str(refused), True
        return build(
            kind,
            error_code=error,
            error_message=reason,
            auth_bytes=message,
            session_lifetime=timedelta(seconds=lifetime),
        )
