"""A clock for tests whose client and brokers share one asyncio loop: to wait takes no time, and waits are exact.

``time.monotonic`` stands still while anything computes, and so does the loop. Where the loop would sleep, and no socket
has anything to read, the clock leaps to the end of the sleep. While another thread is at work it does not leap: it
advances by what really passes.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

QUIET = 0.1
"""Seconds without anything to read after which nothing is on its way over loopback."""


class VirtualClock:
    def __init__(self) -> None:
        self._real = time.monotonic
        self._before = set(threading.enumerate())  # left behind by other tests
        self.now = self._real()

    def __call__(self) -> float:
        return self.now

    def wait(self, select: Any, timeout: float | None) -> Any:
        """Wait for events as a selector does, or leap."""
        if timeout is None or not self._before.issuperset(threading.enumerate()):
            began = self._real()
            events = select(timeout)
            self.now += self._real() - began
        elif not (events := select(min(timeout, QUIET))):
            self.now += timeout
        return events


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    clock: VirtualClock

    def select(self, timeout: float | None = None) -> Any:
        return self.clock.wait(super().select, timeout)


class _Policy(asyncio.DefaultEventLoopPolicy):
    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        selector = _Selector()
        selector.clock = self._clock
        return asyncio.SelectorEventLoop(selector)


@contextmanager
def virtual_clock() -> Iterator[VirtualClock]:
    clock = VirtualClock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", clock)
        before = asyncio.get_event_loop_policy()
        asyncio.set_event_loop_policy(_Policy(clock))
        try:
            yield clock
        finally:
            asyncio.set_event_loop_policy(before)
