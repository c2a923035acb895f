"""Record how far the partitions of the log are read that have no new records.

Without new records there is no batch. These rows show whether an open transaction hides all further records, or nothing
was written: otherwise, a collector that stopped would look like groups that stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from kgroups.errors import KgroupsError
from kgroups.model.lag import waiting_remark

from ..arrow import to_batch
from ..extract.ranges import Ends
from ..live.offsets_log import OffsetsLog
from ..load.manifest import STALLED
from ..load.store import Store
from ..tables import COVERAGE

LOOK_EVERY = 10.0
"""Seconds between two looks at the ends of the log."""

WRITE_EVERY = 60.0
"""Seconds after which rows are written again if only their time, or the number of waiting offsets, has changed."""


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

    def look(self, *, last: bool = False, idle: bool = False) -> dict[int, Ends]:
        """Write a row for each partition that is stalled, or was stalled at the previous check; return all ends.

        Once a minute, also for each other partition that is read to its end.

        :param last: whether the run ends: write the rows in any case, and report them.
        :param idle: whether it had no batch, which would show that partitions are read to their ends.
        :raises KgroupsError: if the cluster does not respond.
        """
        self._looked = time.monotonic()
        began = datetime.now(UTC)
        ends = self._log.ends()
        stalled = {partition: each for partition, each in ends.items() if each.end > each.stable}
        stable = {partition: each.stable for partition, each in stalled.items()}
        is_due = time.monotonic() - self._written >= WRITE_EVERY
        if last or stable != self._open or is_due:
            read = self._read_to_end(ends) if is_due or idle else set()
            wanted = sorted({*stalled, *self._open, *read} & ends.keys())
            self._write(began, {partition: ends[partition] for partition in wanted})
        self._open = stable
        if last:
            for partition, each in stalled.items():
                self._notify(self._line(partition, each))
        return ends

    def _read_to_end(self, ends: Mapping[int, Ends]) -> set[int]:
        positions = self._store.snapshot().positions
        return {partition for partition, each in ends.items() if positions.get(partition, 0) == each.end > 0}

    def _write(self, now: datetime, ends: Mapping[int, Ends]) -> None:
        self._written = time.monotonic()
        if not ends:
            return
        new = {partition: each for partition, each in ends.items() if (partition, each.stable) not in self._times}
        for partition, milliseconds in self._log.first_unread_times(new).items():
            self._times[partition, ends[partition].stable] = milliseconds
        rows = [self._row(now, partition, each) for partition, each in ends.items()]
        self._store.add(STALLED, {COVERAGE: to_batch(COVERAGE, rows)})

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
        since = self._unread_since(partition, ends)
        return (
            f"partition {partition}: {waiting_remark(ends.end - ends.stable)}; its groups are unknown since "
            f"{since:%Y-%m-%dT%H:%M:%SZ}"
        )
