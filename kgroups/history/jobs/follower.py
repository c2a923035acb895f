"""Follow a log: read new records in batches; each becomes one entry with its rows and the position after it.

Exactly once is the result of the manifest alone: an entry is created on the condition that nobody else has created it,
and the next batch begins at the offsets of the last entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from kgroups.errors import HistoryError

from ..arrow import to_batch
from ..extract.ranges import Ends, Range, advance, between, check_position
from ..live.offsets_log import OffsetsLog
from ..load.manifest import DataFile, Entry, Snapshot
from ..load.records import Written
from ..load.store import UNNAMED_FOR, Store, TooLate
from ..suspended import elapsed
from ..tables import Table


class FollowedLog(NamedTuple):
    """The place of a log in a store."""

    topic: str
    name: str
    """In messages."""
    coverage: Table
    """Has a row for each range that was read."""
    positions: Callable[[Snapshot], Mapping[int, int]]
    """Return the next offset to read, by partition."""
    entry: Callable[[Sequence[Written], Sequence[DataFile], Mapping[int, int]], Entry]
    """Return the entry of what tasks wrote, of the files with its coverage, and of the positions after it."""
    skips_deleted: bool = False
    """Whether ranges begin after what brokers have deleted: the rows of the ranges then show the gap."""


class Batch(NamedTuple):
    """An entry that was committed, and what its tasks wrote."""

    entry: Entry
    results: Sequence[Written]


class LogFollower:
    """Collects one log of a cluster into a store."""

    def __init__(
        self,
        followed: FollowedLog,
        log: OffsetsLog,
        store: Store,
        read: Callable[[Sequence[Range]], Sequence[Written]],
        max_offsets: int,
        notify: Callable[[str], None],
    ) -> None:
        """Read nothing yet.

        :param read: reads ranges, and writes their rows.
        :param max_offsets: maximum number of offsets in a batch: what is read again after a kill.
        """
        self._followed, self._log, self._store, self._read = followed, log, store, read
        self._max_offsets, self._notify = max_offsets, notify

    def ends(self) -> dict[int, Ends]:
        return self._log.ends()

    def batches(self, ends: Mapping[int, Ends]) -> Iterator[Batch]:
        """Collect up to the last stable offsets; yield each batch after its commit.

        :raises HistoryError: if the topic was recreated, or another collector writes the same part of the log.
        """
        while True:
            before = self._followed.positions(self._store.snapshot())
            stops = self._next_stops(before, ends)
            if stops is None:
                return
            try:
                yield self._collect(before, *stops, ends)
            except TooLate:
                self._notify(
                    f"a batch took longer than {UNNAMED_FOR}, and other processes may delete its files; reading it "
                    "again"
                )

    def _next_stops(
        self, before: Mapping[int, int], ends: Mapping[int, Ends]
    ) -> tuple[Mapping[int, int], list[Range]] | None:
        """Return the positions after the next batch, and its ranges; ``None`` if nothing is new."""
        for partition, position in before.items():
            stable = ends[partition].stable if partition in ends else None
            check_position(self._followed.topic, partition, position, stable)
        starts = {partition: before.get(partition, each.start) for partition, each in ends.items()}
        if self._followed.skips_deleted:
            starts = {partition: max(start, ends[partition].start) for partition, start in starts.items()}
        stops = advance(starts, {partition: each.stable for partition, each in ends.items()}, self._max_offsets)
        ranges = between(starts, stops)
        return (stops, ranges) if ranges else None

    def _collect(
        self, before: Mapping[int, int], stops: Mapping[int, int], ranges: Sequence[Range], ends: Mapping[int, Ends]
    ) -> Batch:
        began = elapsed()
        results = self._read(ranges)
        coverage = self._write_coverage((fact for each in results for fact in each.coverage), ends)
        entry = self._followed.entry(results, coverage, stops)
        self._store.commit(entry, partial(self._check_unread, before, stops), began=began)
        return Batch(entry, results)

    def _write_coverage(self, facts: Iterator[Mapping[str, Any]], ends: Mapping[int, Ends]) -> tuple[DataFile, ...]:
        sampled_at = datetime.now(UTC)
        rows = [
            {
                **fact,
                "sampled_at": sampled_at,
                "last_stable_offset": ends[fact["log_partition"]].stable,
                "high_watermark": ends[fact["log_partition"]].end,
            }
            for fact in facts
        ]
        with self._store.writer() as writer:
            writer.add(self._followed.coverage, to_batch(self._followed.coverage, rows))
        return writer.files

    def _check_unread(self, before: Mapping[int, int], stops: Mapping[int, int], snapshot: Snapshot) -> None:
        now = self._followed.positions(snapshot)
        if any(now.get(partition) != before.get(partition) for partition in stops):
            raise HistoryError(
                f"store {self._store.shown}: another collector wrote the same part of {self._followed.name}; this "
                "batch is dropped, and nothing is lost"
            )
