"""One TCP connection to one broker: frames out, frames in, in order, many under way at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from kgroups.errors import BrokerUnavailable, ProtocolError, RemoteProtocolError
from kgroups.protocol.call import Call
from kgroups.protocol.framing import FrameReader, correlation_id_of, decode_response, encode_request

from .resolve import addresses

T = TypeVar("T")


class Exchange(NamedTuple):
    """One request and its answer, for ``--debug``: sizes in bytes, ``seconds`` from write to read."""

    broker: str
    api: str
    version: int
    keys: int
    sent: int
    received: int
    seconds: float
    error: str | None = None


Observer = Callable[[Exchange], None]


class ConnectionLost(BrokerUnavailable):
    """The broker closed a connection that had worked; a new one may work again."""


class Connection(asyncio.Protocol):
    """Pipelines calls over one socket. Kafka answers in order, so the oldest call waits for the next frame."""

    def __init__(self, name: str, client_id: str, observer: Observer | None = None) -> None:
        self.name = name
        self._client_id = client_id
        self._observer = observer
        self._frames = FrameReader()
        self._waiting: deque[tuple[int, asyncio.Future[bytes]]] = deque()
        self._next_id = 0
        self._transport: asyncio.Transport | None = None
        self._broken: BrokerUnavailable | ProtocolError | None = None

    @classmethod
    async def open(
        cls, host: str, port: int, *, name: str, client_id: str, timeout: float, observer: Observer | None = None
    ) -> Connection:
        """A connected socket.

        :raises BrokerUnavailable: when the broker refuses, cannot be resolved, or does not accept in ``timeout`` s.
        """
        try:
            async with asyncio.timeout(timeout):
                connection = await cls._reached(lambda: cls(name, client_id, observer), host, port)
        except TimeoutError:
            raise BrokerUnavailable(f"{name}: no connection within {_seconds(timeout)}") from None
        except OSError as error:
            raise BrokerUnavailable(f"{name}: {_reason(error)}") from error
        except (ValueError, OverflowError) as error:  # brokers advertise what they were told
            raise BrokerUnavailable(f"{name}: that cannot be an address: {error}") from None
        return connection

    @staticmethod
    async def _reached(make: Callable[[], Connection], host: str, port: int) -> Connection:
        """By the first of the host's addresses that accepts."""
        loop = asyncio.get_running_loop()
        refused: OSError | None = None
        for address in await addresses(host, port):
            try:
                _, connection = await loop.create_connection(make, address, port)
            except OSError as error:
                refused = error
            else:
                return connection
        raise refused or OSError(f"{host} has no address")

    @property
    def usable(self) -> bool:
        return self._broken is None and self._transport is not None

    async def call(self, call: Call[T], version: int, timeout: float) -> T:
        """Sends a call and reads its answer.

        :raises BrokerUnavailable: when the broker does not answer in ``timeout`` s, or closes the connection.
        :raises ProtocolError: when the answer is not what the API's version promises.
        """
        frame = await self.exchange(call, version, timeout)
        try:
            return decode_response(call, version, frame)
        except RemoteProtocolError as error:
            raise RemoteProtocolError(f"{self.name}: {call.api} v{version}: {error}") from error

    async def exchange(self, call: Call[Any], version: int, timeout: float) -> bytes:
        """Sends a call and gives the frame that answers it, undecoded."""
        if self._broken or self._transport is None:
            raise self._broken or ConnectionLost(f"{self.name}: the connection is closed")
        self._next_id += 1
        correlation_id = self._next_id
        request = encode_request(call, version, correlation_id, self._client_id)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append((correlation_id, answer))
        started = time.perf_counter()
        error: str | None = None
        received = 0
        self._transport.write(request)
        try:
            async with asyncio.timeout(timeout):
                frame = await answer
            received = len(frame) + 4
            return frame
        except TimeoutError:
            error = f"no answer to {call.api} within {_seconds(timeout)}"
            raise BrokerUnavailable(f"{self.name}: {error}") from None
        except (BrokerUnavailable, ProtocolError) as reason:
            error = str(reason)
            raise
        finally:
            if self._observer:
                seconds = time.perf_counter() - started
                told = Exchange(self.name, call.api.name, version, call.keys, len(request), received, seconds, error)
                self._observer(told)

    def close(self) -> None:
        if self._transport:
            self._transport.abort()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                self._answer(frame)
        except RemoteProtocolError as error:
            self._fail(RemoteProtocolError(f"{self.name}: {error}"))
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        cut = f", {self._frames.pending} bytes into an answer" if self._frames.pending else ""
        reason = f" ({_reason(exc)})" if isinstance(exc, OSError) else ""
        self._fail(ConnectionLost(f"{self.name}: closed the connection{cut}{reason}"))

    def _answer(self, frame: bytes) -> None:
        correlation_id = correlation_id_of(frame)
        if not self._waiting or self._waiting[0][0] != correlation_id:
            raise RemoteProtocolError(f"an answer to request {correlation_id}, which was not asked; not Kafka?")
        _, answer = self._waiting.popleft()
        if not answer.done():  # done: the caller has given up waiting
            answer.set_result(frame)

    def _fail(self, error: BrokerUnavailable | ProtocolError) -> None:
        self._broken = self._broken or error
        while self._waiting:
            _, answer = self._waiting.popleft()
            if not answer.done():
                answer.set_exception(self._broken)


def _seconds(timeout: float) -> str:
    """A time-out as it was said: what connecting has used up of it is no news."""
    return f"{timeout:.2g} s" if timeout < 10 else f"{timeout:.0f} s"


def _reason(error: OSError) -> str:
    """The system's words, without the address that they repeat."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return (error.strerror or str(error)).lower()
