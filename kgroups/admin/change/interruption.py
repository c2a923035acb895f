"""Signals while something is being changed: nothing more is sent, and what is known is still reported."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable
from typing import Any, TypeVar

from kgroups.model.operations.journal import Journal
from kgroups.model.outcome import Failure, Scope

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

GRACE = 1.0
"""Seconds for the responses to what was sent; a second signal ends them."""


class Interruption:
    """What a signal does to a run.

    The first one stops the sending: requests under way get :data:`GRACE` seconds for their responses.

    :ivar signal: the first signal that arrived.
    :ivar begun: whether something may have been changed.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self.begun = False
        self._journals: list[Journal[Any, Any]] = []
        self._running: list[asyncio.Future[Any]] = []

    @property
    def reason(self) -> str:
        return f"interrupted by {self.signal.name}" if self.signal else "interrupted"

    @property
    def exit_code(self) -> int:
        """128 and the signal's number, as shells have it."""
        return 128 + (self.signal or signal.SIGINT)

    def not_sent(self, group: str) -> Failure:
        """Why a group was left alone."""
        return Failure(Scope.GROUP, group, f"not sent: {self.reason}")

    def unanswered(self, group: str) -> Failure:
        """Why the result of a group is unknown."""
        return Failure(Scope.GROUP, group, f"the result is unknown: {self.reason} before the response arrived")

    def listen(self) -> None:
        """Handle the signals from now on, until the event loop is closed. Ignored ones (nohup) stay ignored."""
        self.begun = True
        loop = asyncio.get_running_loop()
        for each in SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:
                try:
                    loop.add_signal_handler(each, self._arrived, each)
                except (ValueError, RuntimeError, NotImplementedError):
                    return  # not the main thread, or a system without signals

    def watch(self, journal: Journal[Any, Any]) -> None:
        """Let a signal stop what this journal is about."""
        self._journals.append(journal)

    async def bound(self, work: Awaitable[T]) -> T | None:
        """Await; ``None`` if a signal ended it."""
        if self.signal:
            getattr(work, "close", lambda: None)()
            return None
        running = asyncio.ensure_future(work)
        self._running.append(running)
        try:
            return await running
        except asyncio.CancelledError:
            if self.signal is None or not running.cancelled():
                raise
            return None
        finally:
            self._running.remove(running)

    def _arrived(self, number: signal.Signals) -> None:
        if self.signal:
            self._cancel()
            return
        self.signal = number
        for journal in self._journals:
            journal.stopped = self.reason
        asyncio.get_running_loop().call_later(GRACE, self._cancel)

    def _cancel(self) -> None:
        """End the innermost work: what is around it still reports."""
        if self._running:
            self._running[-1].cancel()
