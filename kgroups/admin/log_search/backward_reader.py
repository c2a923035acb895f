"""Read one partition of a coordinator's topic backwards, until all requested records are found, or up to a limit.

A log can only be read forwards, and compaction leaves gaps in its offsets. Therefore the last few offsets are read
first, then a stretch before them that is four times as long, and so on. Only the records that a search asks for are
decoded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from kgroups.errors import KgroupsError, RemoteProtocolError
from kgroups.model.cluster import Node
from kgroups.model.group_log import Reach, ReadBudget
from kgroups.model.offsets import Isolation, LogOffsets
from kgroups.net.cluster import Cluster
from kgroups.net.deadline import Deadline
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.error_codes import NOT_AUTHORIZED, KafkaError
from kgroups.protocol.record_entries import Entry, read_entries

FIRST_STRETCH = 16
"""Offsets: few, because records of a large group may have a megabyte each. Each further stretch is :data:`GROWTH` times
as long."""
GROWTH = 4
PORTION = 1024 * 1024
"""Maximum bytes per request; less if records so far indicate that a stretch is smaller."""
LEAST_PORTION = 16 * 1024
SHARE_OF_TIME_LEFT = 0.9
"""The part of the remaining ``--timeout`` to spend on reading: the records found must be reported before it is over."""

Records = dict[bytes, list[Entry]]
"""The relevant records of a stretch, by the identity that the search gave them, in order."""


class NotAuthorized(str):
    """The reason why a log was not read: an ACL is missing."""

    __slots__ = ()

    @classmethod
    def to_read(cls, topic: str) -> NotAuthorized:
        return cls(f"not authorized: reading {topic} requires the ACL READ on it")


class Search(ABC):
    """What to find in one partition."""

    def __init__(self) -> None:
        self.unreadable = 0
        """The number of records that could not be decoded."""

    @abstractmethod
    def identity(self, key: bytes) -> bytes | None:
        """Return what the record is about, by which records are collected; ``None``: it is not needed."""

    @abstractmethod
    def keep(self, records: Records) -> None:
        """Keep what was searched for among the records of a complete stretch; newer ones were kept before."""

    @abstractmethod
    def missing(self) -> int:
        """Return the number of requested records that were not found yet."""


@dataclass(eq=False)
class BackwardReader:
    """The reader of one partition of a topic."""

    cluster: Cluster
    topic: str
    number: int
    limits: ReadBudget
    search: Search
    _records: int = 0
    _fetched: int = 0
    _bytes: int = 0
    """Bytes fetched, uncompressed: the limit bounds memory and time."""
    _back_to: int | None = None
    """The timestamp of the oldest record in complete stretches."""
    _oldest: int | None = None
    """The timestamp of the oldest record, also in the stretch that is being read."""

    async def read(self, node: Node, log: LogOffsets) -> Reach | str:
        """Read the log; return how far it was read, or the reason why it was not. Errors are not raised."""
        start, end = log
        if start is None or end is None:
            return f"{self.topic}-{self.number}: its start and end offsets are unknown"
        deadline = Deadline(min(self.limits.seconds, self.cluster.deadline.remaining() * SHARE_OF_TIME_LEFT))
        stretch, low, stopped = FIRST_STRETCH, end, None
        while low > start and self.search.missing() and stopped is None:
            high, low = low, max(start, low - stretch)
            stopped = await self._read_stretch(node, low, high, deadline)
            if stopped is not None:
                low = high
            stretch = self._next_stretch(stretch, end - low)
        return Reach(
            *(f"{self.topic}-{self.number}", self._records, self._bytes, low, start, end, self._back_to),
            unreadable=self.search.unreadable,
            missing=self.search.missing(),
            stopped=stopped if self.search.missing() else None,
        )

    def _next_stretch(self, stretch: int, passed: int) -> int:
        """Return the length of the next stretch, limited to what the bytes left allow to read to its end."""
        left = self.limits.bytes - self._bytes
        affordable = left * passed // self._bytes if self._bytes else stretch * GROWTH
        return max(1, min(stretch * GROWTH, affordable))

    async def _read_stretch(self, node: Node, low: int, high: int, deadline: Deadline) -> str | None:
        """Read from offset ``low`` up to ``high``, exclusive; return why it was not read to its end, if so."""
        records: Records = {}
        at, stopped = low, None
        while at < high and stopped is None:
            if self._bytes >= self.limits.bytes:
                stopped = f"{self.limits.bytes:,} bytes"
            elif not deadline.remaining():
                cut = deadline.seconds < self.limits.seconds
                stopped = (
                    f"--timeout ({self.cluster.deadline.seconds:g} s)" if cut else f"{self.limits.seconds:g} seconds"
                )
            else:
                stopped, at = await self._fetch(node, at, high, records)
        # If its end was not read, newer records than those found may be missing.
        if stopped is None:
            self.search.keep(records)
            self._back_to = self._oldest
        return stopped

    async def _fetch(self, node: Node, at: int, high: int, records: Records) -> tuple[str | None, int]:
        likely = self._fetched * (high - at) // self._records if self._records else 0
        portion = min(max(LEAST_PORTION, likely), PORTION)
        call = Fetch({self.topic: {self.number: at}}, portion, Isolation.READ_COMMITTED)
        try:
            fetched = (await self.cluster.call(node, call)).get((self.topic, self.number))
            if isinstance(fetched, KafkaError):
                return NotAuthorized.to_read(self.topic) if fetched.code in NOT_AUTHORIZED else str(fetched), at
            if not isinstance(fetched, Fetched):
                return "a response without this partition", at
            budget = Budget(self.cluster.deadline)
            entries, until, _ = read_entries(fetched.records, at, fetched.aborted, budget)
        except (KgroupsError, RemoteProtocolError) as error:
            return str(error), at
        self._fetched += len(fetched.records)
        self._bytes += max(len(fetched.records), budget.spent)
        if until == at:
            return (None, high) if not fetched.records else ("a batch larger than the maximum response size", at)
        for entry in entries:
            if entry.offset < high:
                self._collect(entry, records)
        return None, until

    def _collect(self, entry: Entry, records: Records) -> None:
        self._records += 1
        if entry.timestamp >= 0 and (self._oldest is None or entry.timestamp < self._oldest):
            self._oldest = entry.timestamp
        identity = None if entry.key is None else self.search.identity(entry.key)
        if identity is not None:
            records.setdefault(identity, []).append(entry)
