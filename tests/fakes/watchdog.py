"""End a command that hangs, and measure the time that the machine takes from this process."""

from __future__ import annotations

import io
import signal
import threading
import time
from asyncio import all_tasks
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_PERIOD: Final = 0.05


class Hang(BaseException):
    """The command does not end."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """:raises Hang: in the main thread, when the block takes longer, with what each asyncio task waits for."""

    def ring(*_: object) -> None:
        stacks = io.StringIO()
        with suppress(RuntimeError):  # no event loop runs
            for task in all_tasks():
                task.print_stack(file=stacks)
        raise Hang(f"still running after {seconds:g} s\n{stacks.getvalue()}")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Pulse:
    """Sleeps for short periods, and adds up the seconds by which it wakes too late; a context manager."""

    def __init__(self) -> None:
        self.lost = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def _beat(self) -> None:
        before = time.monotonic()
        over = False
        while not over:
            over = self._over.wait(_PERIOD)
            now = time.monotonic()
            self.lost += max(0.0, now - before - _PERIOD)
            before = now

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
