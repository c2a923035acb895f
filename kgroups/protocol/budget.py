"""Limit what one response may cost: seconds to decode it, and bytes that its records unpack to.

A few bytes can announce millions of elements, or unpack to gigabytes, and decoding does not yield to the event loop:
no timeout would end it. So that decoders need no further argument, the budget of the response that is being decoded
is a context variable, which each reader takes when it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from kgroups.errors import DecodingTimeout, ResponseTooLarge

UNPACKED = 64 * 1024 * 1024
"""Bytes that the compressed batches of one response may unpack to, together."""

EVERY = 1_000
"""Elements of arrays between two checks of the clock."""


class Clock(Protocol):
    """A deadline."""

    def remaining(self) -> float:
        """Return the seconds that are left, never negative."""


class Budget:
    """The remaining budget of one response. Without a clock, time is not limited."""

    __slots__ = ("_elements", "_unpacked", "clock", "room")

    def __init__(self, clock: Clock | None = None, unpacked: int = UNPACKED) -> None:
        self.clock = clock
        self._elements = EVERY
        self._unpacked = unpacked
        self.room = unpacked
        """Bytes that may still be unpacked."""

    @property
    def spent(self) -> int:
        """Bytes that were unpacked."""
        return self._unpacked - self.room

    def turns(self, count: int) -> Iterable[int]:
        """Return ``range(count)``, which checks the clock during the iteration.

        :raises DecodingTimeout: (the iterable) when no time is left.
        """
        if count <= self._elements:
            self._elements -= count
            return range(count)
        return self._watched(count)

    def check(self) -> None:
        """Check the clock.

        :raises DecodingTimeout: when no time is left.
        """
        if self.clock is not None and self.clock.remaining() <= 0:
            raise DecodingTimeout("the response took too long to decode")

    def unpacked(self, size: int) -> None:
        """Subtract bytes that were unpacked.

        :raises ResponseTooLarge: when that is more than there was room for.
        """
        if size > self.room:
            self.room = 0
            raise ResponseTooLarge(f"the records of one response unpack to more than {self._unpacked:,} bytes")
        self.room -= size

    def _watched(self, count: int) -> Iterator[int]:
        while count > 0:
            self.check()
            self._elements = EVERY
            yield from range(min(count, EVERY))
            count -= EVERY


_CURRENT: ContextVar[Budget | None] = ContextVar("kgroups-budget", default=None)


def current_budget() -> Budget:
    """Return the budget of the response that is being decoded, or a new one without a clock."""
    return _CURRENT.get() or Budget()


@contextmanager
def spending(budget: Budget) -> Iterator[None]:
    """Let all that is decoded inside the block spend from one budget."""
    token = _CURRENT.set(budget)
    try:
        yield
    finally:
        _CURRENT.reset(token)
