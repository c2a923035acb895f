"""Sample log start and end offsets during collection, as the times at which lag and verdicts are computed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

import pyarrow as pa

from kgroups.errors import KgroupsError

from ..load.manifest import HEADS_SAMPLED
from ..load.store import Store
from ..tables import HEADS

Sample = Callable[[dict[str, set[int]]], pa.RecordBatch]
"""Partitions by topic -> rows of :data:`HEADS`. May raise :class:`KgroupsError`."""

FLUSH = 60.0
"""Seconds of samples in a file: a kill loses at most these; shorter means many small files."""


class HeadSampler:
    """A thread that samples the watched partitions every ``interval`` seconds.

    A failed sample is reported and omitted: the cluster may be back for the next.
    """

    def __init__(self, store: Store, sample: Sample, interval: float, notify: Callable[[str], None]) -> None:
        self._store, self._sample, self._interval, self._notify = store, sample, interval, notify
        self._partitions: dict[str, set[int]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._pending: list[pa.RecordBatch] = []
        self._thread = threading.Thread(target=self._run, name="kgroups-heads", daemon=True)

    def watch(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Add partitions to the samples."""
        with self._lock:
            for topic, partition in partitions:
                self._partitions.setdefault(topic, set()).add(partition)

    def __enter__(self) -> HeadSampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take a last sample, and write the samples that are not written yet."""
        self._stopped.set()
        self._thread.join()
        self._take_sample()
        self._flush()

    def _run(self) -> None:
        flushed = time.monotonic()
        while not self._stopped.wait(self._interval):
            self._take_sample()
            if time.monotonic() - flushed >= FLUSH:
                self._flush()
                flushed = time.monotonic()

    def _take_sample(self) -> None:
        with self._lock:
            watched = {topic: set(partitions) for topic, partitions in self._partitions.items()}
        if not watched:
            return
        try:
            self._pending.append(self._sample(watched))
        except KgroupsError as error:
            self._notify(f"no sample of log ends: {error}")

    def _flush(self) -> None:
        if not self._pending:
            return
        try:
            self._store.add(HEADS_SAMPLED, {HEADS: pa.Table.from_batches(self._pending)})
        except (KgroupsError, OSError) as error:  # keep the samples: a full disk may have room again at the next flush
            self._notify(f"log ends are not written: {error}")
        else:
            self._pending = []
