"""The state of a change while it is being applied, so that an interrupted run can report it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from kgroups.errors import NotSent

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")


class Journal(Generic[K, R]):
    """The results of a change, as they arrive, and the requests that were sent and have no result yet.

    :ivar stopped: why no more requests may be sent; ``None`` while they may.
    """

    def __init__(self, record: Callable[[Iterable[R]], None] | None = None) -> None:
        """:param record: is called with each result once, as soon as it is known."""
        self.stopped: str | None = None
        self.results: dict[K, R] = {}
        self._sent: set[K] = set()
        self._record = record

    @property
    def sent(self) -> int:
        """The number of changes that were sent."""
        return len(self._sent)

    def sending(self, keys: Iterable[K]) -> None:
        """Record that a request is about to be sent.

        :raises NotSent: if the run is being stopped.
        """
        if self.stopped:
            raise NotSent(f"not sent: {self.stopped}")
        self._sent.update(keys)

    def unsent(self, keys: Iterable[K]) -> None:
        """Record that a request was not sent after all, or changed nothing and will be sent again."""
        self._sent.difference_update(keys)

    def enter(self, results: Mapping[K, R]) -> None:
        """Add final results; the first one of each key counts."""
        new = {key: result for key, result in results.items() if key not in self.results}
        self.results.update(new)
        if new and self._record:
            self._record(new.values())

    def in_doubt(self, key: K) -> bool:
        """Return whether a change was sent and has no result."""
        return key in self._sent and key not in self.results
