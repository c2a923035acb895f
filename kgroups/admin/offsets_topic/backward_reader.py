"""Reads one partition of ``__consumer_offsets`` backwards, until all that is wanted is found, or to a bound.

A log can only be read forwards, and compaction leaves holes in its offsets. So its end is read first: a stretch of some
offsets, then the stretch before it, four times as long, and so on. Of each key the newest record counts, and no other
is decoded.
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
"""Offsets: few, for records of a large group may have a megabyte each. Each stretch is :data:`GROWTH` times as long as
the one behind it."""
GROWTH = 4
PORTION = 1024 * 1024
"""Bytes that are asked for at once, at most: what a stretch takes by the size of those that were read."""
LEAST_PORTION = 16 * 1024
OF_WHAT_IS_LEFT = 0.9
"""So much of what ``--timeout`` leaves may be read for, at most: what was found is to be told before it is over."""

Heard = dict[bytes, list[Entry]]
"""The records of a stretch that concern us, by their keys' bytes, in order."""


class Found(NamedTuple):
    """The newest record of a key: its time, and its value; ``None`` where it was deleted."""

    timestamp: int
    value: Mapping[str, Any] | None


@dataclass(eq=False)
class PartitionReader:
    """The reader of one partition, for those of the groups whose home it is."""

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
    """What was fetched, unpacked: the limit is one of memory and time."""
    _unreadable: int = 0
    _back_to: int | None = None
    """When the oldest record of the stretches that count was written."""
    _oldest: int | None = None
    """The same, of the stretch that is being read too."""

    def want(self, group: GroupId, keys: Iterable[Key]) -> None:
        self.groups.add(group)
        self._sought.update(keys)
        name = group.encode("utf-8", "surrogatepass")
        self._names.add(len(name).to_bytes(2, "big") + name)

    async def read(self, node: Node, log: LogOffsets) -> Reach | str:
        """How far it came. What ends it is a reason, not an exception."""
        start, end = log
        if start is None or end is None:
            return f"{OFFSETS_TOPIC}-{self.number}: where it begins and ends is not known"
        patience = Deadline(min(self.limits.seconds, self.cluster.deadline.remaining() * OF_WHAT_IS_LEFT))
        stretch, low, stopped = FIRST_STRETCH, end, None
        while low > start and self._missing() and stopped is None:
            high, low = low, max(start, low - stretch)
            stopped, reached = await self._stretch(node, low, high, patience)
            if stopped is not None and not reached:
                low = high
            stretch = self._next_stretch(stretch, end - low)
        return Reach(
            *(self.number, self._records, self._bytes, low, start, end, self._back_to),
            unreadable=self._unreadable,
            missing=self._missing(),
            stopped=stopped if self._missing() else None,
        )

    def _next_stretch(self, stretch: int, passed: int) -> int:
        """Longer, but no longer than may be read to its end: the part that was read of a stretch counts for nothing."""
        left = self.limits.bytes - self._bytes
        affordable = left * passed // self._bytes if self._bytes else stretch * GROWTH
        return max(1, min(stretch * GROWTH, affordable))

    def _missing(self) -> int:
        return len(self._sought - self.newest.keys())

    async def _stretch(self, node: Node, low: int, high: int, patience: Deadline) -> tuple[str | None, bool]:
        """Reads from one offset to another: why it ended before that, if it did; and whether it is to be counted."""
        heard: Heard = {}
        at, stopped = low, None
        while at < high and stopped is None:
            if self._bytes >= self.limits.bytes:
                stopped = f"{self.limits.bytes:,} bytes"
            elif not patience.remaining():
                cut = patience.seconds < self.limits.seconds
                stopped = (
                    f"--timeout ({self.cluster.deadline.seconds:g} s)" if cut else f"{self.limits.seconds:g} seconds"
                )
            else:
                stopped, at = await self._fetch(node, at, high, heard)
        # A stretch of which the end was not read may lack newer records than those that it has.
        if stopped is None:
            self._take(heard)
            self._back_to = self._oldest
        return stopped, stopped is None

    async def _fetch(self, node: Node, at: int, high: int, heard: Heard) -> tuple[str | None, int]:
        likely = self._fetched * (high - at) // self._records if self._records else 0
        portion = min(max(LEAST_PORTION, likely), PORTION)
        call = Fetch({OFFSETS_TOPIC: {self.number: at}}, portion, Isolation.READ_COMMITTED)
        try:
            answer = (await self.cluster.call(node, call)).get((OFFSETS_TOPIC, self.number))
            if isinstance(answer, KafkaError):
                return str(answer), at
            if not isinstance(answer, Fetched):
                return "an answer that left it out", at
            budget = Budget(self.cluster.deadline)
            entries, until = read_entries(answer.records, at, answer.aborted, budget)
        except (KgroupsError, RemoteProtocolError) as error:
            return str(error), at
        self._fetched += len(answer.records)
        self._bytes += max(len(answer.records), budget.spent)
        if until == at:
            return (None, high) if not answer.records else ("a batch larger than a request", at)
        for entry in entries:
            if entry.offset < high:
                self._note(entry, heard)
        return None, until

    def _note(self, entry: Entry, heard: Heard) -> None:
        self._records += 1
        if entry.timestamp >= 0 and (self._oldest is None or entry.timestamp < self._oldest):
            self._oldest = entry.timestamp
        key = entry.key
        # Every key begins with its type and the group's name: of others nothing is kept.
        if key is None or len(key) < 4 or key[2 : 4 + int.from_bytes(key[2:4], "big")] not in self._names:
            return
        if key not in self._known:
            heard.setdefault(key, []).append(entry)

    def _take(self, heard: Heard) -> None:
        """Of each key the newest record that can be decoded."""
        for key, entries in heard.items():
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
