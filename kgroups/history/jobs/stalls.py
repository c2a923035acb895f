"""Record the partitions of the log in which an open transaction hides all further records.

A stalled partition has no new records, and so no batch: without these rows, its groups would appear to have stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from kgroups.errors import KgroupsError
from kgroups.model.counts import count

from ..arrow import to_batch
from ..extract.ranges import Ends
from ..live.offsets_log import OffsetsLog
from ..load.manifest import STALLED
from ..load.store import Store
from ..tables import COVERAGE

LOOK_EVERY = 10.0
"""Seconds between two looks at the ends of the log."""

WRITE_EVERY = 60.0
"""Seconds after which a stall is written again if only the number of waiting offsets has changed."""


class Stalls:
    """Looks at the ends of the log during collection, and writes rows of coverage with an empty range."""

    def __init__(self, store: Store, log: OffsetsLog, notify: Callable[[str], None]) -> None:
        self._store, self._log, self._notify = store, log, notify
        self._open: dict[int, int] = {}
        """Last stable offset of each partition that was stalled at the last look."""
        self._times: dict[tuple[int, int], int] = {}
        self._looked = self._written = time.monotonic()

    def poll(self) -> None:
        """Look again if it is time. A cluster that does not respond is not an error: it may be back for the next."""
        if time.monotonic() - self._looked < LOOK_EVERY:
            return
        try:
            self.look()
        except KgroupsError as error:
            self._notify(f"open transactions are unknown: {error}")

    def look(self, *, last: bool = False) -> dict[int, Ends]:
        """Write a row for each partition that is stalled, or was stalled at the previous check; return all ends.

        :param last: whether the run ends: write the rows in any case, and report them.
        :raises KgroupsError: if the cluster does not respond.
        """
        self._looked = time.monotonic()
        ends = self._log.ends()
        stalled = {partition: each for partition, each in ends.items() if each.end > each.stable}
        stable = {partition: each.stable for partition, each in stalled.items()}
        if last or stable != self._open or (stable and time.monotonic() - self._written >= WRITE_EVERY):
            self._write({partition: ends[partition] for partition in sorted({*stalled, *self._open} & ends.keys())})
        self._open = stable
        if last:
            for partition, each in stalled.items():
                self._notify(self._line(partition, each))
        return ends

    def _write(self, ends: Mapping[int, Ends]) -> None:
        if not ends:
            return
        new = {partition: each for partition, each in ends.items() if (partition, each.stable) not in self._times}
        for partition, milliseconds in self._log.first_unread_times(new).items():
            self._times[partition, ends[partition].stable] = milliseconds
        now = datetime.now(UTC)
        rows = [self._row(now, partition, each) for partition, each in ends.items()]
        self._store.add(STALLED, {COVERAGE: to_batch(COVERAGE, rows)})
        self._written = time.monotonic()

    def _row(self, now: datetime, partition: int, ends: Ends) -> dict[str, Any]:
        return {
            "sampled_at": now,
            "log_partition": partition,
            "from_offset": ends.stable,
            "to_offset": ends.stable,
            "records": 0,
            "last_stable_offset": ends.stable,
            "high_watermark": ends.end,
            "unread_since": self._unread_since(partition, ends),
        }

    def _unread_since(self, partition: int, ends: Ends) -> datetime | None:
        """Return the time of the first unread record; 1970 if it cannot be read, because any time may be unknown."""
        if ends.end == ends.stable:
            return None
        return datetime.fromtimestamp(self._times.get((partition, ends.stable), 0) / 1000, UTC)

    def _line(self, partition: int, ends: Ends) -> str:
        waits = count(ends.end - ends.stable, "offset waits", "offsets wait")
        since = self._unread_since(partition, ends)
        return (
            f"partition {partition}: {waits} behind an open transaction; its groups are unknown since "
            f"{since:%Y-%m-%dT%H:%M:%SZ}"
        )
