"""Notices that this process did not run: it was stopped, or the machine slept. Responses do not arrive in that time."""

from __future__ import annotations

import threading
import time
from types import TracebackType

TICK = 1.0
"""Seconds between two looks at the clock."""

GAP = 5.0
"""Seconds without a look after which the process is regarded as suspended; a busy machine delays it by less."""

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""The monotonic clock that also advances while the machine sleeps."""


class Suspensions:
    """A context that watches the clock."""

    def __init__(self) -> None:
        self._looked = self._resumed = elapsed()
        self._suspended = 0.0
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="kgroups-suspensions", daemon=True)

    def __enter__(self) -> Suspensions:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._thread.join()

    def since(self, began: float) -> float:
        """Return the seconds of the last suspension if it ended after a time of :func:`elapsed`, otherwise 0."""
        self._look()
        return self._suspended if self._resumed > began else 0.0

    def _watch(self) -> None:
        while not self._closed.wait(TICK):
            self._look()

    def _look(self) -> None:
        now = elapsed()
        if now - self._looked > GAP:
            self._suspended, self._resumed = now - self._looked, now
        self._looked = now


def elapsed() -> float:
    """Return seconds on a clock that also advances while the process is stopped, or the machine sleeps."""
    return time.clock_gettime(_CLOCK)
