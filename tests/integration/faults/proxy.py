"""A TCP proxy between clients and brokers; a test switches its faults on and off while clients are connected.

Each broker has a front: a loopback port that forwards to the broker's own port. Brokers advertise the ports of the
fronts (``Sandbox.up(advertised=…)``), so that clients never go around the proxy.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeVar

from kgroups.sandbox.ports import HOST, ReservedPorts

T = TypeVar("T")

Direction = Literal["requests", "responses"]
BOTH: Final[tuple[Direction, ...]] = ("requests", "responses")

PATIENCE: Final = 180.0
"""Seconds for what must come, on a machine of any speed."""
_CHUNK: Final = 16384
_ABORT: Final = struct.pack("ii", 1, 0)
"""SO_LINGER for a close that sends RST."""


@dataclass(frozen=True)
class Fault:
    """What happens to the connections of one broker. The default forwards everything at once."""

    delay: float = 0.0
    """Seconds until a chunk of bytes goes on."""
    jitter: float = 0.0
    """Seconds by which a delay varies, up and down; the order of bytes stays."""
    rate: float | None = None
    """Bytes per second, each connection and direction."""
    cut: int | None = None
    """Bytes of a connection that go on; then it is closed."""
    directions: tuple[Direction, ...] = BOTH
    """Which direction the above apply to."""
    reset: bool = False
    """Connections get RST: open ones now, new ones after accept."""
    half_open: bool = False
    """The broker's side is gone without a notice to the client: connections stay open and silent. RST at the end."""
    black_hole: bool = False
    """No byte and no new connection passes; open ones go on when it is over."""
    refused: bool = False
    """Nothing listens: new connections are refused."""
    mute: bool = False
    """No byte passes in these directions; connections do."""
    times: int | None = None
    """Connections that are cut or reset until the fault is over by itself; None: all."""

    def stalls(self, direction: Direction) -> bool:
        return self.half_open or self.black_hole or (self.mute and direction in self.directions)


NO_FAULT: Final = Fault()


@dataclass(eq=False)
class Exchange:
    """A request that a broker received, and whether it has answered it."""

    broker: int
    api: int
    sent: float
    ended: float | None = None
    """When the broker answered, or else when the connection was closed."""
    answered: bool = False

    @property
    def seconds(self) -> float:
        return (time.monotonic() if self.ended is None else self.ended) - self.sent


class _Frames:
    """Splits a stream into requests or responses, each a length and a body."""

    def __init__(self, head: int) -> None:
        """:param head: bytes of each frame to return, with its length."""
        self._size = head
        self._head = b""
        self._left = 0

    def feed(self, data: bytes) -> tuple[list[bytes], int]:
        """Return the heads of the frames that begin, and how many frames end."""
        heads, ended = [], 0
        while data:
            if self._left > 0:
                skipped = min(self._left, len(data))
                self._left -= skipped
                data = data[skipped:]
                ended += not self._left
                continue
            taken = self._size - len(self._head)
            self._head += data[:taken]
            data = data[taken:]
            if len(self._head) == self._size:
                heads.append(self._head)
                self._left = int.from_bytes(self._head[:4], "big", signed=True) + 4 - self._size
                self._head = b""
        return heads, ended


def _api(head: bytes) -> int:
    """The API key of a request of which these are the first six bytes."""
    return int.from_bytes(head[4:6], "big", signed=True)


@dataclass(eq=False)
class _Link:
    """One connection of a client, and ours to the broker."""

    front: Front
    client: socket.socket
    broker: socket.socket | None = None
    severed: bool = False
    """The broker's side is gone."""
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    counted: Fault = NO_FAULT
    passed: dict[Direction, int] = field(default_factory=dict)
    read: _Frames = field(default_factory=lambda: _Frames(6))
    sent: _Frames = field(default_factory=lambda: _Frames(6))
    answers: _Frames = field(default_factory=lambda: _Frames(4))
    waiting: deque[Exchange] = field(default_factory=deque)
    """What the broker has not answered."""

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        if self.front.fault.reset:
            self.front.spend()
            return self.close(abort=True)
        await self.front.passable(self, "requests" if self.front.fault.black_hole else None)
        self.broker = socket.socket()
        self.broker.setblocking(False)
        self.broker.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await loop.sock_connect(self.broker, (HOST, self.front.target))
            self.tasks = [
                asyncio.ensure_future(self._forward(self.client, self.broker, "requests")),
                asyncio.ensure_future(self._forward(self.broker, self.client, "responses")),
            ]
            await asyncio.wait(self.tasks, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            self.close(abort=True)
        return self.close()

    async def _forward(self, source: socket.socket, sink: socket.socket, direction: Direction) -> None:
        """Until one side closes. A chunk waits for its time behind the one before it, while others are read."""
        loop = asyncio.get_running_loop()
        line: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(64)
        sender = asyncio.ensure_future(self._send(line, sink, direction))
        self.tasks.append(sender)
        due = 0.0
        try:
            while data := await loop.sock_recv(source, _CHUNK):
                if direction == "requests":
                    await self.front.see([_api(head) for head in self.read.feed(data)[0]])
                else:
                    self._answered(self.answers.feed(data)[1])
                fault = self.front.fault
                wait = 0.0
                if direction in fault.directions:
                    wait = max(0.0, fault.delay + random.uniform(-fault.jitter, fault.jitter))
                due = max(due, loop.time() + wait)
                await line.put((due, data))
            await line.put((due, b""))
            await sender
        except OSError:
            sender.cancel()

    async def _send(self, line: asyncio.Queue[tuple[float, bytes]], sink: socket.socket, direction: Direction) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due, data = await line.get()
            await asyncio.sleep(due - loop.time())
            await self.front.passable(self, direction)
            if not data:
                return None
            fault = self.front.fault
            ours = direction in fault.directions
            if ours and fault.cut is not None:
                data = self._before_cut(fault, direction, data)
            if direction == "requests":
                self.waiting += self.front.sent([_api(head) for head in self.sent.feed(data)[0]])
            try:
                await loop.sock_sendall(sink, data)
            except OSError:
                return self.close()
            if ours and fault.cut is not None and self.passed[direction] >= fault.cut:
                self.front.spend()
                return self.close()
            if ours and fault.rate:
                await asyncio.sleep(len(data) / fault.rate)

    def _answered(self, count: int) -> None:
        """Brokers answer the requests of a connection in order."""
        for _ in range(min(count, len(self.waiting))):
            exchange = self.waiting.popleft()
            exchange.ended, exchange.answered = time.monotonic(), True

    def _before_cut(self, fault: Fault, direction: Direction, data: bytes) -> bytes:
        assert fault.cut is not None
        if self.counted is not fault:
            self.counted, self.passed = fault, {}
        before = self.passed.get(direction, 0)
        self.passed[direction] = before + len(data)
        return data[: max(0, fault.cut - before)]

    def sever(self) -> None:
        """Lose the broker's side; the client hears nothing."""
        self.severed = True
        self._abandon()
        if self.broker:
            _forget(self.broker)
            self.broker.close()

    def _abandon(self) -> None:
        """Nobody waits for the answers that are missing."""
        for exchange in self.waiting:
            exchange.ended = time.monotonic()
        self.waiting.clear()

    def close(self, *, abort: bool = False) -> None:
        self.front.links.discard(self)
        self._abandon()
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        for end in (self.client, self.broker):
            if end and end.fileno() >= 0:
                _forget(end)
                with suppress(OSError):
                    if abort:
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
                    else:
                        end.shutdown(socket.SHUT_RDWR)  # what was sent arrives, whatever was not read
                end.close()


def _forget(end: socket.socket) -> None:
    """Stop polling a socket before it is closed: the next one may get its number."""
    loop = asyncio.get_running_loop()
    if end.fileno() >= 0:
        loop.remove_reader(end.fileno())
        loop.remove_writer(end.fileno())


class Front:
    """The port of one broker."""

    def __init__(self, broker: int, listener: socket.socket, target: int) -> None:
        self.broker = broker
        self.fault = NO_FAULT
        self.exchanges: list[Exchange] = []
        self.target = target
        self.links: set[_Link] = set()
        self.accepted = 0
        self._listener = listener
        self._changed = asyncio.Event()
        self._trigger: tuple[Collection[int], Callable[[], None]] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stuffing: list[socket.socket] = []
        self._listener.setblocking(False)
        self._accepting = False

    @property
    def port(self) -> int:
        number: int = self._listener.getsockname()[1]
        return number

    async def passable(self, link: _Link, direction: Direction | None) -> None:
        """Return when bytes may pass; never for a connection whose broker is gone."""
        if link.severed:
            await asyncio.Event().wait()
        while direction and self.fault.stalls(direction):
            await self._changed.wait()

    def when(self, keys: Collection[int], action: Callable[[], None]) -> None:
        """Act once, when a client sends a request of one of these APIs, before it goes on to the broker."""
        self._trigger = keys, action

    async def see(self, keys: Collection[int]) -> None:
        if self._trigger and not set(keys).isdisjoint(self._trigger[0]):
            _, action = self._trigger
            self._trigger = None
            await asyncio.to_thread(action)

    def sent(self, keys: Collection[int]) -> list[Exchange]:
        """Record requests that go on to the broker."""
        found = [Exchange(self.broker, key, time.monotonic()) for key in keys]
        self.exchanges += found
        return found

    async def record(self) -> list[Exchange]:
        """Return what is recorded, and begin again."""
        found, self.exchanges = self.exchanges, []
        return found

    def spend(self) -> None:
        """One connection more has had the fault."""
        left = self.fault.times
        if left is not None:
            self.fault = Fault() if left <= 1 else Fault(**{**vars(self.fault), "times": left - 1})

    async def set(self, fault: Fault) -> None:
        before, self.fault = self.fault, fault
        self._changed.set()
        self._changed = asyncio.Event()
        if before.half_open and not fault.half_open:
            for link in list(self.links):
                link.close(abort=True)
        if fault.half_open:
            for link in self.links:
                link.sever()
        if fault.reset:
            for link in list(self.links):
                link.close(abort=True)
        if fault.refused:
            self._stop_accepting()
            with suppress(OSError):  # nothing listens already
                self._listener.shutdown(socket.SHUT_RDWR)
        elif fault.black_hole:
            self._stop_accepting()
            await self._fill_queue()
        elif not self._accepting:
            self._start_accepting()

    def _start_accepting(self) -> None:
        for stuffed in self._stuffing:
            stuffed.close()
        self._stuffing.clear()
        self._listener.listen(128)
        asyncio.get_running_loop().add_reader(self._listener, self._accept)
        self._accepting = True

    def _stop_accepting(self) -> None:
        asyncio.get_running_loop().remove_reader(self._listener)
        self._accepting = False

    async def _fill_queue(self) -> None:
        """Fill the queue of connections that wait for accept: the kernel then drops each new SYN."""
        self._listener.listen(0)
        while not self._is_queue_full():
            stuffing = socket.socket()
            stuffing.setblocking(False)
            self._stuffing.append(stuffing)
            with suppress(BlockingIOError):
                stuffing.connect((HOST, self.port))
            await asyncio.sleep(0.01)

    def _is_queue_full(self) -> bool:
        """For a listening socket, Linux reports the queue's length and limit as ``unacked`` and ``sacked``."""
        info = self._listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
        waiting, limit = struct.unpack_from("II", info, 24)
        return bool(waiting > limit)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return  # it has gone already
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.accepted += 1
        link = _Link(self, client)
        self.links.add(link)
        link.severed = self.fault.half_open
        task = asyncio.ensure_future(link.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        self._stop_accepting()
        tasks = [*self._tasks]
        for link in list(self.links):
            tasks += link.tasks
            link.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for end in (*self._stuffing, self._listener):
            end.close()


class Proxy:
    """Fronts of some brokers, on a thread of their own; a context manager."""

    def __init__(self, brokers: int) -> None:
        """Reserve the ports, so that brokers can advertise them; connections wait."""
        held = ReservedPorts(brokers)
        self._listeners = [held.take() for _ in range(brokers)]
        for listener in self._listeners:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # to listen again beside open connections
            listener.listen(128)
        self.ports: Mapping[int, int] = {
            number: listener.getsockname()[1] for number, listener in enumerate(self._listeners, 1)
        }
        self.fronts: dict[int, Front] = {}
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="proxy", daemon=True)

    @property
    def bootstrap(self) -> str:
        return ",".join(f"{HOST}:{port}" for port in self.ports.values())

    def start(self, targets: Mapping[int, int]) -> None:
        """:param targets: broker -> its own port."""

        async def made() -> None:
            for number, listener in enumerate(self._listeners, 1):
                front = self.fronts[number] = Front(number, listener, targets[number])
                await front.set(NO_FAULT)

        self._thread.start()
        self._run(made())

    def set(self, fault: Fault, *brokers: int) -> None:
        """Switch a fault on, at these brokers or at all; open connections have it too."""
        for number in brokers or self.fronts:
            self._run(self.fronts[number].set(fault))

    @contextmanager
    def faulty(self, fault: Fault, *brokers: int) -> Iterator[None]:
        self.set(fault, *brokers)
        try:
            yield
        finally:
            self.set(NO_FAULT, *brokers)

    @contextmanager
    def faulty_at(self, keys: Collection[int], fault: Fault, broker: int) -> Iterator[None]:
        """The same from when a client sends this broker a request of one of these APIs."""
        self.when(keys, lambda: self.set(fault, broker), broker)
        try:
            yield
        finally:
            self.when((), lambda: None, broker)
            self.set(NO_FAULT, broker)

    def when(self, keys: Collection[int], action: Callable[[], None], broker: int) -> None:
        """Act once, when a client sends this broker a request of one of these APIs, before it goes on."""
        self.loop.call_soon_threadsafe(self.fronts[broker].when, keys, action)

    def record(self) -> list[Exchange]:
        """Return the requests that brokers received since the last call."""
        return [each for front in self.fronts.values() for each in self._run(front.record())]

    def stop(self) -> None:
        if self._thread.is_alive():
            for front in self.fronts.values():
                self._run(front.stop())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(PATIENCE)
        for listener in self._listeners:
            listener.close()
        self.loop.close()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, what: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(PATIENCE)
