"""Signals during a change: no further request is sent, and the known results are still reported."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable
from typing import Any, TypeVar

from kgroups.errors import Reason
from kgroups.model.operations.journal import Journal
from kgroups.model.outcome import Failure, Scope

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

GRACE = 1.0
"""Seconds to wait for pending responses; a second signal ends the wait."""


class Interruption:
    """Stops a run when a signal arrives.

    After the first signal no request is sent; pending requests get :data:`GRACE` seconds for their responses.

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
    def sent(self) -> int:
        """The number of changes that were sent, to all clusters."""
        return sum(journal.sent for journal in self._journals)

    @property
    def exit_code(self) -> int:
        """128 plus the number of the signal, as in shells."""
        return 128 + (self.signal or signal.SIGINT)

    def not_sent(self, group: str) -> Failure:
        """Return the failure of a group that was not changed."""
        return Failure(Scope.GROUP, group, f"not sent: {self.reason}", reason=Reason.NOT_SENT)

    def unanswered(self, group: str) -> Failure:
        """Return the failure of a group whose result is unknown."""
        return Failure(
            Scope.GROUP,
            group,
            f"the result is unknown: {self.reason} before the response arrived",
            reason=Reason.OUTCOME_UNKNOWN,
        )

    def listen(self) -> None:
        """Handle the signals until the event loop is closed; ignored signals (nohup) stay ignored."""
        self.begun = True
        loop = asyncio.get_running_loop()
        for each in SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:
                try:
                    loop.add_signal_handler(each, self._arrived, each)
                except (ValueError, RuntimeError, NotImplementedError):
                    return  # not the main thread, or a system without signals

    def watch(self, journal: Journal[Any, Any]) -> None:
        """Stop the operation of this journal when a signal arrives."""
        self._journals.append(journal)

    async def bound(self, work: Awaitable[T]) -> T | None:
        """Await the work and return its result, or ``None`` if a signal ended it."""
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
        """Cancel the innermost work only: its callers still report the results."""
        if self._running:
            self._running[-1].cancel()
