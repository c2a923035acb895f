"""Samples log heads beside the stream, so that lag and verdicts have a grid of times to stand on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pyarrow as pa

from kgroups.errors import KgroupsError

from ..load.store import Entry, Store
from ..tables import HEADS

Sample = Callable[[dict[str, set[int]]], pa.RecordBatch]
"""Partitions by topic -> rows of :data:`HEADS`; may raise a KgroupsError."""

FLUSH = 60.0
"""Seconds of samples in a file: what a kill may cost, against a folder full of small files."""


class HeadSampler:
    """A thread that samples every ``interval`` seconds the partitions that it has been told of.

    A sample that fails is told and left out: the cluster may be back at the next.
    """

    def __init__(self, store: Store, sample: Sample, interval: float, tell: Callable[[str], None]) -> None:
        self._store, self._sample, self._interval, self._tell = store, sample, interval, tell
        self._partitions: dict[str, set[int]] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._kept: list[pa.RecordBatch] = []
        self._thread = threading.Thread(target=self._run, name="kgroups-heads", daemon=True)

    def watch(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Samples these too from now on."""
        with self._lock:
            for topic, partition in partitions:
                self._partitions.setdefault(topic, set()).add(partition)

    def __enter__(self) -> HeadSampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Takes a last sample, and writes down what is kept."""
        self._over.set()
        self._thread.join()
        self._take()
        self._flush()

    def _run(self) -> None:
        flushed = time.monotonic()
        while not self._over.wait(self._interval):
            self._take()
            if time.monotonic() - flushed >= FLUSH:
                self._flush()
                flushed = time.monotonic()

    def _take(self) -> None:
        with self._lock:
            wanted = {topic: set(partitions) for topic, partitions in self._partitions.items()}
        if not wanted:
            return
        try:
            self._kept.append(self._sample(wanted))
        except KgroupsError as error:
            self._tell(f"no sample of log ends: {error}")

    def _flush(self) -> None:
        if not self._kept:
            return
        entry = f"heads-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
        try:
            self._store.put(HEADS.name, entry, pa.Table.from_batches(self._kept))
            self._store.commit(Entry(entry, (HEADS.name,)))
        except (KgroupsError, OSError) as error:  # a full disk may be emptied: they are kept for the next time
            self._tell(f"log ends are not written: {error}")
        else:
            self._kept = []
