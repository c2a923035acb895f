"""Brokers on loopback sockets in this process that respond from a :class:`ClusterState` and fail on demand.

For faults that a real broker does not produce on demand; see README.md. Responses are kio's entities; a fault then
changes their bytes. Every request is recorded, so that a test can count them.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from kio.schema.errors import ErrorCode

from kgroups.admin.routing.coverage import PROBE
from kgroups.config.settings import ClientSettings
from kgroups.protocol.framing import FrameReader

from . import answers, sasl, share, streams
from .cluster_state import ClusterState
from .oracle import build, read, request_type, response_type, write
from .sasl import Guard
from .versions import API_VERSIONS, DESCRIBE_ACLS, KAFKA, NAMES, Ranges

Fault = Callable[[asyncio.StreamWriter, bytes], Awaitable[None]]
"""Replaces the sending of a response, which is given without its length."""


STABLE = " (require_stable)"

BY_API = {**answers.BY_API, **share.BY_API, **streams.BY_API}


@dataclass(frozen=True)
class Request:
    broker: int
    api: str
    version: int
    keys: tuple[str, ...]


def is_probe(request: Request) -> bool:
    """Return whether a request only checks which offsets partitions a broker coordinates."""
    return request.api == "DescribeGroups" and all(name.startswith(PROBE) for name in request.keys)


def framed(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


async def silence(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Accept the request and never respond, neither to it nor to later ones on the connection."""
    await asyncio.Event().wait()


async def dribble(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Send the response one byte at a time."""
    for byte in framed(answer):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0)


async def trailing(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Send three extra bytes at the end of the response."""
    writer.write(framed(answer + b"\0\0\0"))


async def wrong_id(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Send the response with the correlation ID of another request."""
    writer.write(framed(b"\x7f\xff\xff\xff" + answer[4:]))


async def close(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Close the connection instead of responding."""
    writer.close()


async def cut_frame(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """Close the connection in the middle of a frame."""
    whole = framed(answer)
    writer.write(whole[: len(whole) // 2])
    await writer.drain()
    writer.close()


def truncated(kept: int) -> Fault:
    """Send a complete frame whose message ends after ``kept`` bytes (negative: from the end)."""

    async def fault(writer: asyncio.StreamWriter, answer: bytes) -> None:
        writer.write(framed(answer[:kept]))

    return fault


def raw(data: bytes) -> Fault:
    """Send these bytes to any request."""

    async def fault(writer: asyncio.StreamWriter, answer: bytes) -> None:
        writer.write(data)

    return fault


def late(seconds: float) -> Fault:
    async def fault(writer: asyncio.StreamWriter, answer: bytes) -> None:
        await asyncio.sleep(seconds)
        writer.write(framed(answer))

    return fault


@dataclass
class FakeBroker:
    id: int
    state: ClusterState
    ranges: Ranges
    port: int = 0
    advertised: int | None = None
    """The port in Metadata, if it is another."""
    stale: dict[str, list[int]] = field(default_factory=dict)
    """Topic -> the leaders that this broker's Metadata names, of an older epoch."""
    alive: bool = True
    peers: Mapping[int, FakeBroker] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    crash: Exception | None = None
    bend: Callable[[str, Any], Any] | None = None
    """Changes a response: receives the API name and kio's entity, returns an entity."""
    tls: ssl.SSLContext | None = None
    sasl: sasl.FakeSasl | None = None
    _faults: dict[str, list[tuple[Fault, int | None]]] = field(default_factory=dict)
    _server: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def fault(self, api: str, fault: Fault, times: int | None = None) -> None:
        """Apply a fault to requests of an API (``*``: of any); to the next ``times`` ones, or always.

        :param api: with :data:`STABLE` at its end, only if ``require_stable`` is set.
        """
        self._faults.setdefault(api, []).append((fault, times))

    def recover(self) -> None:
        """Apply no fault any more."""
        self._faults.clear()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        if not self.alive:  # the port was free a moment ago, and no process listens on it now
            await self.stop()

    async def stop(self) -> None:
        self.alive = False
        if self._server:
            self._server.close()
        for _ in range(
            5
        ):  # a connection that was just accepted gets its task, and a transport closes, some steps later
            for writer in self._open:
                writer.transport.abort()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)
        if self._server:
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self._open.add(writer)
        self.connections += 1
        try:
            await self._answer_all(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        except Exception as error:  # a bug in the fake, or a request that no broker of this version could read
            self.crash = self.crash or error
        finally:
            writer.transport.abort()
            self._open.discard(writer)
            self._tasks.discard(task)

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        guard = Guard(self.sasl) if self.sasl else None
        while data := await reader.read(65536):
            for frame in frames.feed(data):
                if guard and not guard.admits(int.from_bytes(frame[:2], "big")):
                    return
                api, answer = self._answer(frame, guard)
                fault = self._next_fault(api)
                if fault:
                    await fault(writer, answer)
                else:
                    writer.write(framed(answer))
                if writer.is_closing():
                    return
                if guard and guard.over:
                    await writer.drain()
                    writer.close()
                    return
            await writer.drain()

    def _next_fault(self, api: str) -> Fault | None:
        for name in (api, api.removesuffix(STABLE), "*"):
            queue = self._faults.get(name)
            if queue:
                fault, times = queue[0]
                if times is not None:
                    queue[0] = (fault, times - 1)
                    if times <= 1:
                        queue.pop(0)
                return fault
        return None

    def _answer(self, frame: bytes, guard: Guard | None) -> tuple[str, bytes]:
        key, version, correlation_id = struct.unpack_from(">hhi", frame)
        if guard and key in sasl.RANGES:
            return self._sign_in(frame, guard)
        oldest, newest = self.ranges[key]
        if not oldest <= version <= newest:
            assert key == API_VERSIONS, f"{NAMES[key]} v{version} was asked of a broker that speaks v{oldest}-v{newest}"
            self.requests.append(Request(self.id, NAMES[key], version, ()))
            kind = response_type(key, 0)
            refusal = answers.api_versions(self, None, kind, error=ErrorCode.unsupported_version)
            return NAMES[key], correlation_id.to_bytes(4, "big") + write(refusal)
        if (key, version) == (DESCRIBE_ACLS, 0):  # which the schemas lack
            self.requests.append(Request(self.id, NAMES[key], version, ()))
            return NAMES[key], struct.pack(">iihhi", correlation_id, 0, self.state.acls_error, -1, 0)
        kind = request_type(key, version)
        _, offset = read(kind.__header_schema__, frame)
        request, offset = read(kind, frame, offset)
        assert offset == len(frame), "bytes behind the request"
        self.requests.append(Request(self.id, NAMES[key], version, answers.keys_of(request)))
        reply = response_type(key, version)
        header = build(reply.__header_schema__, correlation_id=correlation_id)
        answer = BY_API[key](self, request, reply)
        if self.bend:
            answer = self.bend(NAMES[key], answer)
        stable = STABLE if getattr(request, "require_stable", False) else ""
        return NAMES[key] + stable, write(header) + write(answer)

    def _sign_in(self, frame: bytes, guard: Guard) -> tuple[str, bytes]:
        key, version, correlation_id = struct.unpack_from(">hhi", frame)
        kind, reply = request_type(key, version), response_type(key, version)
        _, offset = read(kind.__header_schema__, frame)
        request, _ = read(kind, frame, offset)
        self.requests.append(Request(self.id, sasl.NAMES[key], version, ()))
        header = build(reply.__header_schema__, correlation_id=correlation_id)
        return sasl.NAMES[key], write(header) + write(guard.answer(key, request, reply))


class FakeCluster:
    """Some brokers, numbered from 0, of one Kafka version or of one each. An async context manager."""

    def __init__(self, brokers: int = 2, versions: str | Mapping[int, str] = "4.3.1") -> None:
        self.state = ClusterState()
        self.host = "127.0.0.1"  # by which the bootstrap servers are called; what brokers advertise is an address
        of = {at: versions if isinstance(versions, str) else versions[at] for at in range(brokers)}
        self.brokers = {at: FakeBroker(at, self.state, dict(KAFKA[of[at]])) for at in range(brokers)}
        for broker in self.brokers.values():
            broker.peers = self.brokers

    def secure(self, tls: ssl.SSLContext | None = None, asked: sasl.FakeSasl | None = None) -> None:
        """Require TLS, SASL, or both on all brokers."""
        for broker in self.brokers.values():
            broker.tls, broker.sasl = tls, asked
            if asked:
                broker.ranges = {**broker.ranges, **sasl.RANGES}

    def settings(self, *via: int, **rest: Any) -> ClientSettings:
        """Return settings with some brokers, or all, as bootstrap servers, and short timeouts."""
        bootstrap = tuple((self.host, self.brokers[at].port) for at in via or self.brokers)
        return ClientSettings(bootstrap, **{"timeout": 60.0, "broker_timeout": 20.0, **rest})

    async def __aenter__(self) -> Self:
        for broker in self.brokers.values():
            await broker.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for broker in self.brokers.values():
            await broker.stop()
        for broker in self.brokers.values():
            if broker.crash:
                raise broker.crash

    @property
    def requests(self) -> list[Request]:
        return [request for broker in self.brokers.values() for request in broker.requests]

    def asked(self, api: str) -> list[Request]:
        return [request for request in self.requests if request.api == api]
