"""Back off from brokers that are not ready, and limit the requests in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kgroups.net.cluster import Cluster
from kgroups.net.deadline import Deadline

FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 1.0
"""Seconds, as FIRST_PAUSE."""

PIPELINE = 64
"""Requests for one group each that are in flight to one broker. The broker answers them one by one: more would not be
faster, and this few wait far less than the broker's timeout."""
BATCHES = 4
"""Batched requests in flight to one broker, so that it works while kgroups decodes."""


def window(chunk: int) -> int:
    """Return how many requests for ``chunk`` groups each may be in flight to one broker."""
    return PIPELINE if chunk == 1 else BATCHES


async def pause(cluster: Cluster, seconds: float, passed: float = 0.0) -> None:
    """Sleep; neither this time nor the seconds that have ``passed`` before count toward the deadline."""
    cluster.deadline.extend(passed)
    cluster.deadline.extend_by_wait(seconds)
    await asyncio.sleep(seconds)


class Backoff:
    """Pauses that double, until a limit."""

    def __init__(self, limit: Callable[[], Deadline]) -> None:
        """Create the pauses; ``limit`` is called when the first one begins."""
        self._limit = limit
        self._end: Deadline | None = None
        self._pause = FIRST_PAUSE

    @classmethod
    def of(cls, cluster: Cluster) -> Backoff:
        """Return pauses until ``--broker-timeout`` after the first one began, and never beyond the deadline."""
        return cls(lambda: cluster.deadline.within(cluster.settings.broker_timeout))

    async def wait(self) -> bool:
        """Pause; return ``False`` immediately if the time is up."""
        if self._end is None:
            self._end = self._limit()
        if self._end.remaining() <= self._pause:
            return False
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return True
