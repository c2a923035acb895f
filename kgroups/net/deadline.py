"""The time limit of a command."""

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
        """Return the seconds left, never negative."""
        return max(0.0, self._at - time.monotonic())

    def bound(self, seconds: float) -> float:
        """Return ``seconds``, or the time left if that is less.

        :raises NotRequested: if no time is left.
        """
        left = self.remaining()
        if left <= 0:
            raise NotRequested(f"not requested: --timeout ({self.seconds:g} s) expired")
        return min(seconds, left)

    def extend(self, seconds: float) -> None:
        """Move the deadline: a wait that the user requested does not count."""
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
        """Return a deadline in at most ``seconds``, no later than this one."""
        return Deadline(min(seconds, self.remaining()))
