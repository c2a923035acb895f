"""Read one partition of ``__consumer_offsets`` backwards, until all requested records are found, or up to a limit.

A log can only be read forwards, and compaction leaves gaps in its offsets. Therefore the last few offsets are read
first, then a stretch before them that is four times as long, and so on. Only the newest record of each key is decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kgroups.errors import KgroupsError, RemoteProtocolError, UndecodableRecord
from kgroups.model.cluster import Node
from kgroups.model.group_log import Key, Reach, ReadBudget
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Isolation, LogOffsets
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.net.cluster import Cluster
from kgroups.net.deadline import Deadline
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.budget import Budget
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.offsets_topic import decode
from kgroups.protocol.offsets_topic.decode import group_of
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
"""The relevant records of a stretch, by the bytes of their keys, in order."""


class Found(NamedTuple):
    """The newest record of a key: its timestamp in milliseconds since 1970, and its value; ``None`` for a tombstone."""

    timestamp: int
    value: Mapping[str, Any] | None


@dataclass(eq=False)
class PartitionReader:
    """The reader of one partition, for the groups whose records are on it."""

    cluster: Cluster
    number: int
    limits: ReadBudget
    groups: set[GroupId] = field(default_factory=set)
    newest: dict[Key, Found] = field(default_factory=dict)
    _sought: set[Key] = field(default_factory=set)
    _names: set[bytes] = field(default_factory=set)
    _known: set[bytes] = field(default_factory=set)
    """The keys of ``newest``, as bytes."""
    _records: int = 0
    _fetched: int = 0
    _bytes: int = 0
    """Bytes fetched, uncompressed: the limit bounds memory and time."""
    _unreadable: int = 0
    _back_to: int | None = None
    """The timestamp of the oldest record in complete stretches."""
    _oldest: int | None = None
    """The timestamp of the oldest record, also in the stretch that is being read."""

    def request(self, group: GroupId, keys: Iterable[Key]) -> None:
        """Search for the newest records with these keys, which belong to the group."""
        self.groups.add(group)
        self._sought.update(keys)
        name = group.encode("utf-8", "surrogatepass")
        self._names.add(len(name).to_bytes(2, "big") + name)

    async def read(self, node: Node, log: LogOffsets) -> Reach | str:
        """Read the log; return how far it was read, or the reason why it was not. Errors are not raised."""
        start, end = log
        if start is None or end is None:
            return f"{OFFSETS_TOPIC}-{self.number}: its start and end offsets are unknown"
        deadline = Deadline(min(self.limits.seconds, self.cluster.deadline.remaining() * SHARE_OF_TIME_LEFT))
        stretch, low, stopped = FIRST_STRETCH, end, None
        while low > start and self._missing() and stopped is None:
            high, low = low, max(start, low - stretch)
            stopped = await self._read_stretch(node, low, high, deadline)
            if stopped is not None:
                low = high
            stretch = self._next_stretch(stretch, end - low)
        return Reach(
            *(self.number, self._records, self._bytes, low, start, end, self._back_to),
            unreadable=self._unreadable,
            missing=self._missing(),
            stopped=stopped if self._missing() else None,
        )

    def _next_stretch(self, stretch: int, passed: int) -> int:
        """Return the length of the next stretch, limited to what the bytes left allow to read to its end."""
        left = self.limits.bytes - self._bytes
        affordable = left * passed // self._bytes if self._bytes else stretch * GROWTH
        return max(1, min(stretch * GROWTH, affordable))

    def _missing(self) -> int:
        return len(self._sought - self.newest.keys())

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
            self._keep_newest(records)
            self._back_to = self._oldest
        return stopped

    async def _fetch(self, node: Node, at: int, high: int, records: Records) -> tuple[str | None, int]:
        likely = self._fetched * (high - at) // self._records if self._records else 0
        portion = min(max(LEAST_PORTION, likely), PORTION)
        call = Fetch({OFFSETS_TOPIC: {self.number: at}}, portion, Isolation.READ_COMMITTED)
        try:
            fetched = (await self.cluster.call(node, call)).get((OFFSETS_TOPIC, self.number))
            if isinstance(fetched, KafkaError):
                return str(fetched), at
            if not isinstance(fetched, Fetched):
                return "a response without this partition", at
            budget = Budget(self.cluster.deadline)
            entries, until = read_entries(fetched.records, at, fetched.aborted, budget)
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
        key = entry.key
        # Every key begins with its type and the group's name; records of other groups are skipped.
        if key is None or len(key) < 4 or key[2 : 4 + int.from_bytes(key[2:4], "big")] not in self._names:
            return
        if key not in self._known:
            records.setdefault(key, []).append(entry)

    def _keep_newest(self, records: Records) -> None:
        """Keep the newest record of each key that can be decoded."""
        for key, entries in records.items():
            for entry in reversed(entries):
                try:
                    record = decode(key, entry.value)
                except UndecodableRecord:
                    self._unreadable += 1
                    continue
                if group_of(record.key) in self.groups:
                    self._known.add(key)
                    self.newest[record.record_type, *record.key.values()] = Found(entry.timestamp, record.value)
                break
