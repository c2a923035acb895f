"""The one clock of a command: when everything must be answered or named as failed."""

from __future__ import annotations

import time

from kgroups.errors import NotRequested


class Deadline:
    """A point in time on the monotonic clock."""

    __slots__ = ("_at", "_waits_until", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waits_until = time.monotonic()
        self._at = self._waits_until + seconds

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._at - time.monotonic())

    def bound(self, seconds: float) -> float:
        """No more than ``seconds``, and no more than what is left.

        :raises NotRequested: when nothing is left.
        """
        left = self.remaining()
        if left <= 0:
            raise NotRequested(f"not requested: --timeout ({self.seconds:g} s) was over")
        return min(seconds, left)

    def extend(self, seconds: float) -> None:
        """Move it: a wait that the user asked for does not count."""
        self._at += seconds

    def extend_by_wait(self, seconds: float) -> None:
        """Move it by a wait that begins now; waits that overlap count once."""
        now = time.monotonic()
        self._at += max(0.0, now + seconds - max(now, self._waits_until))
        self._waits_until = max(self._waits_until, now + seconds)

    def restart(self) -> None:
        """Begin again, with the same number of seconds."""
        self._at = time.monotonic() + self.seconds

    def within(self, seconds: float) -> Deadline:
        """A nearer deadline, no later than this one."""
        return Deadline(min(seconds, self.remaining()))
