"""The connections of one command: opened on demand, reopened when lost, and marked as down after a failure."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, DeadlineExceeded, KgroupsError, NotRequested
from kgroups.protocol.versions import BrokerVersions

from .connection import Connection, ConnectionLost, KeptWaiting, Observer, Overdue
from .connector import Connector, ReadyConnection
from .deadline import Deadline
from .pace import Pace

READS = 0
"""The number of the connection for reads that do not depend on other brokers."""

LANES = 4
"""Connections to one broker for changes: a broker processes one request of a connection at a time, and responds after
enough replicas have the change. Measured on one machine, limited by its cores: 25 % less time with three replicas, no
difference with one; distant replicas gain more."""

WAITING = 64
"""Connections to one broker for requests that wait for other brokers: so many may be unanswered without delaying
others."""

REPLICAS = 1 + LANES + WAITING
"""The number of the connection for reads that wait for the replication of earlier writes."""

SILENCE = 0.05
"""Seconds without a response after which another broker is preferred for requests that any broker can serve."""

DIALS = 64
"""Brokers to connect to at the same time. Metadata may name any number of hosts, and hostile metadata does."""

BOOTSTRAP_DIALS = 256
"""Bootstrap servers to connect to at the same time, so that unresponsive servers do not block the others."""

MOST_OPEN = 512
"""Connections of one command: half of the file descriptors that Linux allows a process by default. For more brokers,
idle connections are closed."""

FULL_PAUSE = 0.02
"""Seconds between two checks for an idle connection."""

Address = tuple[str, int]
"""Host and port."""

Lane = tuple[str, int, int]
"""Host, port, and number of the connection: :data:`READS`, :data:`LANES`, :data:`WAITING`, then :data:`REPLICAS`."""


class ConnectionPool:
    """Keeps connections to brokers.

    A broker that cannot be reached, or does not respond within ``broker_timeout``, is marked as down and gets no
    further request.
    """

    def __init__(self, settings: ClientSettings, deadline: Deadline, observer: Observer | None) -> None:
        self._settings = settings
        self._deadline = deadline
        self._made: dict[Lane, asyncio.Task[ReadyConnection]] = {}
        self._retired: list[asyncio.Task[ReadyConnection]] = []
        self._pending: Counter[Lane] = Counter()
        self._down: dict[Address, KgroupsError] = {}
        self._late: set[Address] = set()
        self._names: dict[Address, str] = {}
        self._connector = Connector(settings, observer, Pace(deadline, settings.max_requests_per_second))
        self._dials = asyncio.Semaphore(DIALS)
        self._bootstrap_dials = asyncio.Semaphore(BOOTSTRAP_DIALS)

    async def to(self, host: str, port: int, name: str, number: int = READS) -> ReadyConnection:
        """Return a usable connection.

        :raises BrokerUnavailable: if the broker cannot be reached or rejects the client, now or earlier.
        :raises DeadlineExceeded: if the time limit of the command expired.
        :raises ProtocolError: if the response is not a Kafka broker's.
        """
        address, lane = (host, port), (host, port, number)
        if address in self._down:
            raise self._down[address]
        task = self._made.get(lane)
        if task and task.done() and not (task.exception() is None and task.result().connection.usable):
            self._retired.append(task)  # its pending requests may still get responses
            task = None
        if task is None:
            task = self._made[lane] = asyncio.ensure_future(self._open(host, port, name))
        try:
            # Shielded: a caller that is canceled must not close the connection that others wait for.
            return await asyncio.shield(task)
        except ConnectionLost:
            raise
        except BrokerUnavailable as error:
            raise self.mark_down(address, error) from None

    async def _open(self, host: str, port: int, name: str) -> ReadyConnection:
        dials = self._bootstrap_dials if (host, port) in self._settings.bootstrap else self._dials
        try:
            async with asyncio.timeout(self._deadline.remaining()):
                await dials.acquire()
        except TimeoutError:
            text = f"not contacted: --timeout ({self._deadline.seconds:g} s) expired"
            raise NotRequested(text, peer=name) from None
        try:
            await self._make_room()
            allowed = Deadline(self._deadline.bound(self._settings.broker_timeout))
            link = await self._connector.link(host, port, name, allowed, self._versions((host, port, READS)))
        except KgroupsError as error:
            if error.peer == name:
                error.peer = self._names.get((host, port), name)
            raise
        finally:
            dials.release()
        link.connection.name = self._names.get((host, port), name)
        return link

    def _versions(self, lane: Lane) -> BrokerVersions | None:
        """Return the API versions of a broker to which a connection is open."""
        task = self._made.get(lane)
        if task is None or not task.done() or task.cancelled() or task.exception():
            return None
        return task.result().versions._replace(pause=0.0) if task.result().connection.usable else None

    async def _make_room(self) -> None:
        """Close the oldest idle connection if too many are open; wait for one if none is idle.

        :raises NotRequested: if the time limit of the command expired.
        """
        while len(self._made) >= MOST_OPEN and len(live := self._live()) >= MOST_OPEN:
            idle = next((lane for lane, connection in live.items() if connection.idle), None)
            if idle is None:
                self._deadline.bound(FULL_PAUSE)
                await asyncio.sleep(FULL_PAUSE)
            else:
                del self._made[idle]
                live[idle].fail(
                    ConnectionLost(
                        "closed while idle, because the maximum number of connections is reached", peer=live[idle].name
                    )
                )

    def _live(self) -> dict[Lane, Connection]:
        done = {lane: task for lane, task in self._made.items() if task.done() and not task.cancelled()}
        links = {lane: task.result().connection for lane, task in done.items() if task.exception() is None}
        return {lane: connection for lane, connection in links.items() if connection.usable}

    def extend(self, seconds: float) -> None:
        """Extend the pending time limits of all connections."""
        for connection in self._live().values():
            connection.extend(seconds)

    @contextmanager
    def free_lane(self, host: str, port: int, *, waits: bool) -> Iterator[int]:
        """Yield the connection for one change, or for one request that waits: the one with the fewest pending ones."""
        numbers = range(1 + LANES, 1 + LANES + WAITING) if waits else range(1, 1 + LANES)
        lane = min(((host, port, number) for number in numbers), key=self._pending.__getitem__)
        self._pending[lane] += 1
        try:
            yield lane[2]
        finally:
            self._pending[lane] -= 1

    def mark_down(self, address: Address, error: BrokerUnavailable) -> KgroupsError:
        """Send no further request to this broker; return the error to raise."""
        return self._down.setdefault(address, self._over(error) or error)

    def kept_waiting(self, error: Overdue) -> KgroupsError:
        """Return the error to raise for a broker that responds to other requests: it is not down."""
        return self._over(error) or KeptWaiting(
            f"{error.text}: the broker responds to other requests, but waits for another broker", peer=error.peer
        )

    def _over(self, error: BrokerUnavailable) -> DeadlineExceeded | None:
        """Return the error of a broker that did not respond before the time limit of the command."""
        if self._deadline.remaining():
            return None
        over = f"--timeout ({self._deadline.seconds:g} s) expired"
        ended = f"{error.missing} before {over}" if isinstance(error, Overdue) else f"{error.text}, and {over}"
        return DeadlineExceeded(ended, peer=error.peer, hint=error.hint)

    def forgive(self) -> None:
        """Contact every broker again, also after it did not respond; for replicas, only after it has responded.

        Connections to brokers that did not respond are closed: they may be lost without a sign.
        """
        retired, self._retired = self._retired, []
        retired += [self._made.pop(lane) for lane in list(self._made) if lane[:2] in self._down]
        for task in retired:
            if not (task.cancel() or task.cancelled() or task.exception()):
                task.result().connection.close()
        self._down.clear()
        live = self._live()
        lanes = {address: live.get((*address, REPLICAS)) for address in self._late}
        self._late = {address for address, connection in lanes.items() if connection and not connection.idle}

    def mark_late(self, address: Address) -> None:
        """Send no further request over :data:`REPLICAS` to this broker: a replica does not respond to it."""
        self._late.add(address)

    def is_late(self, address: Address) -> bool:
        return address in self._late

    def is_down(self, address: Address) -> bool:
        return address in self._down

    def tried(self, address: Address) -> bool:
        """Return whether a first connection to a broker was opened or failed."""
        task = self._made.get((*address, 0))
        return task is not None and task.done()

    def silent(self, address: Address) -> bool:
        """Return whether requests to a broker have been pending for :data:`SILENCE` without any response."""
        task = self._made.get((*address, 0))
        if task is None or not task.done() or task.cancelled() or task.exception():
            return False
        since = task.result().connection.waits_since
        return since is not None and time.monotonic() - since > SILENCE

    def rename(self, address: Address, name: str) -> None:
        """Set the name of a broker known only by its address, also for connections that are being opened."""
        self._names[address] = name
        task = self._made.get((*address, 0))
        if task and task.done() and not task.cancelled() and not task.exception():
            task.result().connection.name = name

    def with_authentication_hint(self, error: ConnectionLost) -> ConnectionLost:
        """See :meth:`kgroups.net.connector.Connector.with_authentication_hint`."""
        return self._connector.with_authentication_hint(error)

    async def close(self) -> None:
        """Close all connections, including connections that are being opened."""
        links, self._made = [*self._made.values(), *self._retired], {}
        for task in links:
            task.cancel()
        for result in await asyncio.gather(*links, return_exceptions=True):
            if isinstance(result, ReadyConnection):
                result.connection.close()
        await asyncio.sleep(0)  # let the transports run their last callbacks while the loop runs
