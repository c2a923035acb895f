"""How long to wait for what is not ready, and how much to ask at once."""

from __future__ import annotations

import asyncio

from kgroups.net.cluster import Cluster
from kgroups.net.deadline import Deadline

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 1.0

PIPELINE = 64
"""Requests of one group each that are under way to one broker. It answers one after the other: this only hides the
way there and back, and keeps each request's own wait far below the broker's time-out."""
BATCHES = 4
"""Batched requests that are under way to one broker, so that it works while we decode."""


def window(chunk: int) -> int:
    """How many requests of ``chunk`` groups may be under way to one broker."""
    return PIPELINE if chunk == 1 else BATCHES


class Backoff:
    """Growing pauses, in all no longer than ``--broker-timeout`` from the first on, nor than the deadline."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._patience: Deadline | None = None
        self._pause = FIRST_PAUSE

    async def wait(self) -> bool:
        """Pauses; ``False`` at once when patience is at its end."""
        if self._patience is None:
            self._patience = self._cluster.deadline.within(self._cluster.settings.broker_timeout)
        if self._patience.remaining() <= self._pause:
            return False
        await asyncio.sleep(self._pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        return True
