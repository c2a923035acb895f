"""Refreshes of ``kgroups watch``, and the queue that carries them to the screen."""

from __future__ import annotations

import gc
import itertools
import queue
import threading
import time
from collections.abc import Iterator
from enum import Enum

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.topic_failures import topic_failures
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.views.offset_row import GroupOffsets

from .sources import Sources
from .tick import Tick

BUDGET = 0.30
"""Maximum share of one core for the refreshes of a screen; larger clusters are refreshed less often."""
_COLLECTION = 60.0
"""Seconds between two garbage collections. Automatic ones would take a third of the CPU time of 10,000 groups."""


def clock(at: int) -> str:
    """Return the local time of day of milliseconds since 1970."""
    return time.strftime("%H:%M:%S", time.localtime(at / 1000))


def pace_of(tick: Tick) -> str:
    """Return the text about an interval that was extended."""
    return "" if tick.slowed is None else f"  every {tick.slowed:.1f} s (CPU limit {BUDGET:.0%})"


class End(Enum):
    """The end of the refreshes."""

    OVER = 1


OVER = End.OVER
Event = Tick | BaseException | End


class Ticks:
    """Polls the groups; each refresh begins an interval after the previous one began."""

    def __init__(
        self,
        connection: ConnectionOptions,
        selection: Selection,
        isolation: Isolation,
        interval: float,
        count: int | None,
        *,
        on_screen: bool,
    ) -> None:
        """Create the polls.

        :param on_screen: extend the interval if refreshes take more than :data:`BUDGET`, and wait less for clusters.
        """
        self._connection = connection
        self._selection = selection
        self._isolation = isolation
        self.interval = interval
        self._count = count
        self._on_screen = on_screen
        self._stop = threading.Event()

    def __iter__(self) -> Iterator[Tick]:
        """Yield refreshes.

        :raises KgroupsError: if the first poll of the only cluster fails as a whole; otherwise this is a failure.
        """
        with Sources(self._connection, self._selection, self._query, on_screen=self._on_screen) as sources:
            yield from self._ticks(sources)

    def _ticks(self, sources: Sources) -> Iterator[Tick]:
        collected, used = time.monotonic(), 0.0
        for number in itertools.count(1):
            began = time.monotonic()
            tick = sources.refresh(number)
            pause = self.interval
            before, used = used, time.process_time()
            if self._on_screen and number > 1:  # the first refresh decodes and allocates everything
                pause = max(pause, (used - before) / BUDGET)  # with the drawing of the refresh before
            yield tick._replace(slowed=pause if pause > self.interval else None)
            if began - collected > _COLLECTION:
                gc.collect()
                collected = began
            if number == self._count or self._stop.wait(max(0.0, began + pause - time.monotonic())):
                return

    def stop(self) -> None:
        self._stop.set()

    async def _query(self, admin: Client) -> Outcome[GroupOffsets]:
        outcome = await admin.describe_offsets(self._selection, isolation=self._isolation, whole_topics=True)
        if not self._selection.topics:
            return outcome

        return outcome.with_failures(await topic_failures(admin, self._selection, outcome))


def poll_into(ticks: Ticks, events: queue.SimpleQueue[Event]) -> None:
    """Put the refreshes, and then the end or the error, into a queue."""
    try:
        for tick in ticks:
            events.put(tick)
        events.put(OVER)
    except BaseException as error:  # raised again by the main thread
        events.put(error)


def newest_of(events: queue.SimpleQueue[Event]) -> tuple[Tick | None, End | BaseException | None]:
    """Return the newest refresh, if there is one, and the end or the error, if the polls have ended."""
    newest: Tick | None = None
    while not events.empty():
        new = events.get()
        if not isinstance(new, Tick):
            return newest, new
        newest = new
    return newest, None
