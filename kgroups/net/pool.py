"""The connections of one command: made when first asked for, made anew when lost, given up at brokers that cost too
much."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, DeadlineExceeded, KgroupsError, NotRequested

from .connection import Connection, ConnectionLost, Observer, Overdue
from .connector import Connector, ReadyConnection
from .deadline import Deadline
from .pace import Pace

LANES = 4
"""Connections to one broker for changes: it takes up the next request of a connection when the one before is answered,
and answers when enough replicas have it. Measured on one machine, whose cores are the limit: a quarter less time with
three replicas, none with one; the further away the replicas, the more."""

SILENCE = 0.05
"""Seconds without any answer after which another broker is asked what any broker can answer."""

DIALS = 64
"""Brokers that are connected to at a time. Metadata may name any number of hosts, and a hostile one does."""

MOST_OPEN = 512
"""Connections of one command: half of the file descriptors that Linux gives a process by default. Where more brokers
are asked, idle connections are closed."""

FULL_PAUSE = 0.02
"""Seconds between two looks for an idle connection."""

Address = tuple[str, int]
"""Host and port."""

Lane = tuple[str, int, int]
"""Host, port, and which of the connections to it; all that is only asked goes by the first."""


class ConnectionPool:
    """A broker that cannot be reached, or does not answer in ``broker_timeout``, is not asked again: it has cost what
    one broker may cost."""

    def __init__(self, settings: ClientSettings, deadline: Deadline, observer: Observer | None) -> None:
        self._settings = settings
        self._deadline = deadline
        self._made: dict[Lane, asyncio.Task[ReadyConnection]] = {}
        self._retired: list[asyncio.Task[ReadyConnection]] = []
        self._changing: Counter[Lane] = Counter()
        self._down: dict[Address, KgroupsError] = {}
        self._names: dict[Address, str] = {}
        self._gate = Connector(settings, observer, Pace(deadline, settings.max_requests_per_second))
        self._dials = asyncio.Semaphore(DIALS)

    async def to(self, host: str, port: int, name: str, number: int = 0) -> ReadyConnection:
        """A connection that can be used.

        :raises BrokerUnavailable: when the broker cannot be reached or does not let us in; now, or at an earlier try.
        :raises DeadlineExceeded: when the command's time is used up.
        :raises ProtocolError: when what answers is no broker.
        """
        address, lane = (host, port), (host, port, number)
        if address in self._down:
            raise self._down[address]
        task = self._made.get(lane)
        if task and task.done() and not (task.exception() is None and task.result().connection.usable):
            self._retired.append(task)  # what was asked on it may still be answered
            task = None
        if task is None:
            task = self._made[lane] = asyncio.ensure_future(self._open(host, port, name))
        try:
            # Shielded: one caller that gives up must not break the connection that others wait for.
            return await asyncio.shield(task)
        except ConnectionLost:
            raise
        except BrokerUnavailable as error:
            raise self.mark_down(address, error) from None

    async def _open(self, host: str, port: int, name: str) -> ReadyConnection:
        try:
            async with asyncio.timeout(self._deadline.remaining()):
                await self._dials.acquire()
        except TimeoutError:
            text = f"not contacted: --timeout ({self._deadline.seconds:g} s) was over"
            raise NotRequested(text, peer=name) from None
        try:
            await self._make_room()
            allowed = Deadline(self._deadline.bound(self._settings.broker_timeout))
            link = await self._gate.link(host, port, name, allowed)
        except KgroupsError as error:
            if error.peer == name:
                error.peer = self._names.get((host, port), name)
            raise
        finally:
            self._dials.release()
        link.connection.name = self._names.get((host, port), name)
        return link

    async def _make_room(self) -> None:
        """Close the idle connection that was made first, where too many are open; wait for one where none is idle.

        :raises NotRequested: when the command's time is used up.
        """
        while len(self._made) >= MOST_OPEN and len(live := self._live()) >= MOST_OPEN:
            idle = next((lane for lane, connection in live.items() if connection.idle), None)
            if idle is None:
                self._deadline.bound(FULL_PAUSE)
                await asyncio.sleep(FULL_PAUSE)
            else:
                del self._made[idle]
                live[idle].fail(ConnectionLost("closed while idle, for other brokers", peer=live[idle].name))

    def _live(self) -> dict[Lane, Connection]:
        done = {lane: task for lane, task in self._made.items() if task.done() and not task.cancelled()}
        links = {lane: task.result().connection for lane, task in done.items() if task.exception() is None}
        return {lane: connection for lane, connection in links.items() if connection.usable}

    @contextmanager
    def free_lane(self, host: str, port: int) -> Iterator[int]:
        """For one change: the connection on which the fewest are under way."""
        lane = min(((host, port, number) for number in range(LANES)), key=self._changing.__getitem__)
        self._changing[lane] += 1
        try:
            yield lane[2]
        finally:
            self._changing[lane] -= 1

    def mark_down(self, address: Address, error: BrokerUnavailable) -> KgroupsError:
        """Never again; gives what to raise."""
        reason: KgroupsError = error
        if not self._deadline.remaining():
            over = f"--timeout ({self._deadline.seconds:g} s) was over"
            ended = f"{error.missing} before {over}" if isinstance(error, Overdue) else f"{error.text}, and {over}"
            reason = DeadlineExceeded(ended, peer=error.peer, hint=error.hint)
        return self._down.setdefault(address, reason)

    def forgive(self) -> None:
        """Contact every broker again, also those that did not respond."""
        self._down.clear()

    def is_down(self, address: Address) -> bool:
        return address in self._down

    def tried(self, address: Address) -> bool:
        """Whether a first connection to a broker came about, or failed."""
        task = self._made.get((*address, 0))
        return task is not None and task.done()

    def silent(self, address: Address) -> bool:
        """Whether requests to a broker have been waiting for :data:`SILENCE` without any news."""
        task = self._made.get((*address, 0))
        if task is None or not task.done() or task.cancelled() or task.exception():
            return False
        since = task.result().connection.waits_since
        return since is not None and time.monotonic() - since > SILENCE

    def rename(self, address: Address, name: str) -> None:
        """What was only an address until now; also on connections that are still being made."""
        self._names[address] = name
        task = self._made.get((*address, 0))
        if task and task.done() and not task.cancelled() and not task.exception():
            task.result().connection.name = name

    def with_authentication_hint(self, error: ConnectionLost) -> ConnectionLost:
        """See :meth:`kgroups.net.connector.Connector.with_authentication_hint`."""
        return self._gate.with_authentication_hint(error)

    async def close(self) -> None:
        """Closes them all, also those that are still being made."""
        links, self._made = [*self._made.values(), *self._retired], {}
        for task in links:
            task.cancel()
        for result in await asyncio.gather(*links, return_exceptions=True):
            if isinstance(result, ReadyConnection):
                result.connection.close()
        await asyncio.sleep(0)  # lets the transports run their last callbacks while the loop is there
