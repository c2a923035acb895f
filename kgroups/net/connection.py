"""One TCP connection to one broker, with pipelined requests."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl  # asyncio has it already
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kgroups.errors import (
    BrokerUnavailable,
    DecodingTimeout,
    KgroupsError,
    ProtocolError,
    Reason,
    RemoteProtocolError,
    ResponseTooLarge,
)
from kgroups.protocol.budget import Budget
from kgroups.protocol.call import Call
from kgroups.protocol.framing import (
    MAX_FRAME,
    MAX_UNTRUSTED_FRAME,
    FrameReader,
    correlation_id_of,
    decode_response,
    encode_request,
)

from .deadline import Deadline
from .pace import Pace

if TYPE_CHECKING:
    from .tls_handshake import TlsConnector

T = TypeVar("T")


class Exchange(NamedTuple):
    """One request and its response, for ``--debug``: sizes in bytes, ``seconds`` from write to read."""

    broker: str
    api: str
    version: int
    keys: int
    sent: int
    received: int
    seconds: float
    error: str | None = None
    pause: float = 0.0
    """Seconds for which the broker then throttles this client."""


Observer = Callable[[Exchange], None]

Before = Callable[[], Awaitable[bool]]
"""Called right before a request is sent, and again until it returns that no time has passed: ``False``."""


class ConnectionLost(BrokerUnavailable):
    """The broker closed a connection that had worked; a new one may work again."""

    default_reason = Reason.CONNECTION_CLOSED


class Overdue(BrokerUnavailable):
    """A broker did not respond in time; ``missing`` is the message without that time."""

    default_reason = Reason.NO_RESPONSE

    def __init__(self, missing: str, seconds: float, *, peer: str | None = None) -> None:
        super().__init__(f"{missing} within {in_seconds(seconds)}", peer=peer)
        self.missing = missing


class KeptWaiting(KgroupsError):
    """A broker did not respond in time because it waits for another broker: it is not down."""

    default_reason = Reason.NO_RESPONSE


class NeverSent(ConnectionLost):
    """The connection was closed before the request was sent: it is safe to send it on a new one."""


class Connection(asyncio.Protocol):
    """Pipelines requests over one socket. Kafka responds in order, so the next frame is for the oldest request."""

    def __init__(self, name: str, client_id: str, observer: Observer | None = None) -> None:
        self.name = name
        self._client_id = client_id
        self._observer = observer
        self._frames = FrameReader(MAX_UNTRUSTED_FRAME)
        self._waiting: deque[tuple[int, asyncio.Future[bytes]]] = deque()
        self._next_id = 0
        self._transport: asyncio.Transport | None = None
        self._broken: BrokerUnavailable | ProtocolError | None = None
        self.tls: TlsConnector | None = None
        """What opened the connection, if it is encrypted."""
        self._held: asyncio.Event | None = None
        self._keeper: asyncio.Task[None] | None = None
        self.pace: Pace | None = None
        self._timeouts: set[asyncio.Timeout] = set()
        self._resumes = 0.0
        """When the broker reads requests again after a pause for a quota, on the monotonic clock."""
        self.waits_since: float | None = None
        """When the oldest pending request was sent, or the response before it arrived; monotonic clock."""
        self.ends: float | None = None
        """When the authenticated session ends, on the loop's clock."""

    @property
    def usable(self) -> bool:
        over = self.ends is not None and asyncio.get_running_loop().time() >= self.ends
        return self._broken is None and self._transport is not None and not over

    def trust(self) -> None:
        """Accept large responses: the peer is authenticated, or at least a Kafka broker without authentication."""
        self._frames.limit = MAX_FRAME

    @property
    def resumes(self) -> float:
        """When the broker reads requests again after a pause for a quota, on the monotonic clock."""
        return self._resumes

    @property
    def idle(self) -> bool:
        """Return whether no request is pending or waiting to be sent."""
        return not self._waiting and not self._held

    async def call(
        self,
        call: Call[T],
        version: int,
        timeout: float,
        *,
        ahead: bool = False,
        deadline: Deadline | None = None,
        before: Before | None = None,
    ) -> T:
        """Send a request and return its decoded response.

        :param ahead: send it even while other requests are held back.
        :param deadline: of the whole command. Decoding takes no longer, and no longer than ``timeout``.
        :param before: is awaited right before the request is sent.
        :raises BrokerUnavailable: if the broker does not respond within ``timeout`` s, or closes the connection.
        :raises NeverSent: (a subclass) if the connection was closed before the request was sent.
        :raises DecodingTimeout: if decoding the response takes too long.
        :raises ProtocolError: if the response does not match the API version.
        """
        frame = await self.exchange(call, version, timeout, ahead=ahead, before=before)
        allowed = deadline.within(timeout) if deadline else Deadline(timeout)
        try:
            return decode_response(call, version, frame, Budget(allowed))
        except DecodingTimeout:
            size = f"{len(frame):,} bytes"
            reason = f"response to {call.api} ({size}) was not decoded within {in_seconds(allowed.seconds)}"
            raise DecodingTimeout(reason, peer=self.name) from None
        except RemoteProtocolError as error:
            error.within(f"{call.api} v{version}").at(self.name)
            raise

    async def exchange(
        self, call: Call[Any], version: int, timeout: float, *, ahead: bool = False, before: Before | None = None
    ) -> bytes:
        """Send a request and return the frame of the response, undecoded.

        :param ahead: send it even while other requests are held back.
        :param before: is awaited right before the request is sent.
        """
        while True:
            if self.pace:
                await self.pace.turn(self.name, self._resumes)
            if before is None or not await before():
                break
        if self.pace:
            timeout = min(timeout, self.pace.deadline.remaining())
        started = time.perf_counter()
        error: str | None = None
        sent = received = 0
        pause = 0.0
        try:
            async with self._patient(timeout):
                while self._held and not ahead:
                    await self._held.wait()
                answer, sent = self._send(call, version)
                frame = await answer
            received = len(frame) + 4
            if pause := call.api.pause_of(version, frame):
                self.throttled(pause)
            return frame
        except TimeoutError:
            overdue = Overdue(f"no response to {call.api}", timeout, peer=self.name)
            error = overdue.text
            raise overdue from None
        except (BrokerUnavailable, ProtocolError) as reason:
            error = str(reason)
            raise
        finally:
            if self._observer:
                seconds = time.perf_counter() - started
                exchange = Exchange(self.name, call.api.name, version, call.keys, sent, received, seconds, error, pause)
                self._observer(exchange)

    def _send(self, call: Call[Any], version: int) -> tuple[asyncio.Future[bytes], int]:
        """Return a future of the response frame, and the number of bytes sent."""
        if isinstance(self._broken, ConnectionLost):
            raise NeverSent(self._broken.text, peer=self._broken.peer, hint=self._broken.hint)
        if self._broken or self._transport is None:
            raise self._broken or NeverSent("the connection is closed", peer=self.name)
        self._next_id += 1
        correlation_id = self._next_id
        request = encode_request(call, version, correlation_id, self._client_id)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append((correlation_id, answer))
        self.waits_since = self.waits_since or time.monotonic()
        self._transport.write(request)
        return answer, len(request)

    def throttled(self, pause: float) -> None:
        """Send nothing for these seconds, in which the broker reads nothing, and extend the pending time limits."""
        self._resumes = time.monotonic() + pause
        self.extend(pause)

    def extend(self, seconds: float) -> None:
        """Extend the pending time limits, but not beyond the deadline of the command."""
        left = self.pace.deadline.remaining() if self.pace else seconds
        latest = asyncio.get_running_loop().time() + left
        for timeout in self._timeouts:
            if (ends := timeout.when()) is not None:
                timeout.reschedule(max(ends, min(ends + seconds, latest)))

    @asynccontextmanager
    async def _patient(self, seconds: float) -> AsyncIterator[None]:
        """Limit the time like ``asyncio.timeout``, extended while the broker throttles."""
        async with asyncio.timeout(seconds) as timeout:
            self._timeouts.add(timeout)
            try:
                yield
            finally:
                self._timeouts.discard(timeout)

    def hold(self) -> None:
        """From now on, send only requests with ``ahead``; the others wait for :meth:`release`."""
        self._held = self._held or asyncio.Event()

    def release(self) -> None:
        if self._held:
            self._held.set()
            self._held = None

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Run this as long as the connection is open."""
        self._keeper = asyncio.ensure_future(work)

    def fail(self, error: BrokerUnavailable) -> None:
        """Close the connection; all pending requests fail with the error."""
        self._fail(error)
        self.close()

    @property
    def tls_session(self) -> Any:
        """Python's ``ssl.SSLObject``; ``None`` without TLS."""
        return self._transport.get_extra_info("ssl_object") if self._transport else None

    def close(self) -> None:
        if self._keeper:
            self._keeper.cancel()
        if self._transport:
            self._transport.abort()

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                self._answer(frame)
        except ResponseTooLarge as error:
            if self._waiting:  # it answers the oldest request; the others lose their connection
                _, answer = self._waiting.popleft()
                if not answer.done():
                    answer.set_exception(error.at(self.name))
            self._fail(ConnectionLost(f"the connection was closed because {error.text}", peer=self.name))
            self.close()
        except RemoteProtocolError as error:
            self._fail(error.at(self.name))
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        cut = f", {self._frames.pending} bytes into a response" if self._frames.pending else ""
        reason = f" ({reason_of(exc)})" if isinstance(exc, OSError) else ""
        if self._keeper:
            self._keeper.cancel()
        ended = isinstance(exc, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        if self.tls and isinstance(exc, ssl.SSLError) and not ended:
            # A broker may reject the client certificate after the handshake is complete on this side.
            self._fail(self.tls.refusal(exc).at(self.name))
        self._fail(ConnectionLost(f"closed the connection{cut}{reason}", peer=self.name))

    def _answer(self, frame: bytes) -> None:
        correlation_id = correlation_id_of(frame)
        if not self._waiting or self._waiting[0][0] != correlation_id:
            raise RemoteProtocolError(f"unexpected correlation ID {correlation_id} in a response")
        _, answer = self._waiting.popleft()
        self.waits_since = time.monotonic() if self._waiting else None
        if not answer.done():  # done: the caller no longer waits
            answer.set_result(frame)

    def _fail(self, error: BrokerUnavailable | ProtocolError) -> None:
        self._broken = self._broken or error
        while self._waiting:
            _, answer = self._waiting.popleft()
            if not answer.done():
                answer.set_exception(self._broken)


def in_seconds(timeout: float) -> str:
    """Return a time limit as the user gave it: without the milliseconds that connecting has used."""
    return f"{timeout:.2g} s" if timeout < 10 else f"{timeout:.0f} s"


def unavailable(error: OSError) -> BrokerUnavailable:
    """Convert an error of the system, without the broker's name."""
    reason = Reason.CONNECTION_FAILED
    if isinstance(error, ConnectionRefusedError):
        reason = Reason.CONNECTION_REFUSED
    elif isinstance(error, socket.gaierror):
        reason = Reason.NAME_NOT_RESOLVED
    elif isinstance(error, ConnectionResetError | BrokenPipeError):
        reason = Reason.CONNECTION_CLOSED
    return BrokerUnavailable(reason_of(error), reason=reason)


def reason_of(error: OSError) -> str:
    """Return the system's message, without the address that it repeats."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if error.errno and (error.strerror or "").startswith("Connect call failed"):  # asyncio's, with the address
        return os.strerror(error.errno).lower()
    return (error.strerror or str(error)).lower()
