"""Limit the rate of requests: at most N per second, and none while a broker throttles this client."""

from __future__ import annotations

import asyncio
import time

from kgroups.errors import NotRequested, Reason

from .deadline import Deadline


class Pace:
    """The rate limit of a command, for all connections. Requests are spaced evenly, without bursts."""

    def __init__(self, deadline: Deadline, per_second: float | None) -> None:
        self.deadline = deadline
        self._gap = 1 / per_second if per_second else 0.0
        self._next = 0.0

    async def turn(self, broker: str, not_before: float) -> None:
        """Wait until a request may be sent.

        :param not_before: when the broker stops throttling this client, on the monotonic clock.
        :raises NotRequested: if that is after the command's deadline.
        """
        now = time.monotonic()
        at = max(now, self._next, not_before)
        if at == now and not self._gap:
            return
        if at - now > self.deadline.remaining():
            limit = f"--timeout ({self.deadline.seconds:g} s)"
            if not_before >= self._next:
                why = f"the broker throttles this client (quota) for {not_before - now:.1f} s more"
                text = f"not requested: {why}, which is longer than what is left of {limit}"
                raise NotRequested(text, peer=broker, reason=Reason.THROTTLED)
            text = f"not requested: --max-requests-per-second allows no request before {limit} expires"
            raise NotRequested(text)
        self._next = at + self._gap
        await asyncio.sleep(at - now)
