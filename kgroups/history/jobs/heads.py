"""Sample log start and end offsets during collection, as the times at which lag and verdicts are computed.

Brokers cannot be asked again for what their log ends were. So each sample is on disk before the next one: in a file
beside the manifest, which the collector replaces with each sample, and deletes when an entry has its samples. The next
collector adds what a killed one left there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from urllib.parse import quote
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.errors import KgroupsError
from kgroups.model.counts import count

from ..arrow import arrow_schema, to_ipc
from ..load.manifest import HEADS_SAMPLED
from ..load.read import read_rows
from ..load.store import Store
from ..tables import HEADS

Sample = Callable[[dict[str, set[int]]], pa.RecordBatch]
"""Partitions by topic -> rows of :data:`HEADS`. May raise :class:`KgroupsError`."""

FLUSH = 60.0
"""Seconds of samples in an entry: shorter means many small files."""

HELD = "_samples"
"""The folder of samples that are in no entry yet."""


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
        self._held = f"{HELD}/{quote(store.cluster, safe='')}/{uuid4()}.arrow"
        self._is_held = False
        self._thread = threading.Thread(target=self._run, name="kgroups-heads", daemon=True)

    def watch(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Add partitions to the samples."""
        with self._lock:
            for topic, partition in partitions:
                self._partitions.setdefault(topic, set()).add(partition)

    def __enter__(self) -> HeadSampler:
        """Add the samples that a killed collector left, and begin.

        :raises HistoryError: if the store cannot be read or written.
        """
        self._recover()
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
            found = self._sample(watched)
        except KgroupsError as error:
            self._notify(f"no sample of log ends: {error}")
            return
        self._forget_recovered()
        self._pending.append(found)
        try:
            self._store.storage.replace(self._held, bytes(to_ipc(pa.Table.from_batches(self._pending))))
        except (KgroupsError, OSError) as error:  # keep the samples: a full disk may have room again at the next one
            self._notify(f"log ends are not written: {error}")
        else:
            self._is_held = True

    def _flush(self) -> None:
        self._forget_recovered()
        if not self._pending:
            return
        try:
            self._store.add(HEADS_SAMPLED, {HEADS: pa.Table.from_batches(self._pending)})
        except (KgroupsError, OSError) as error:
            self._notify(f"log ends are not written: {error}")
            return
        self._pending, self._is_held = [], False
        with suppress(KgroupsError, OSError):  # the next collector finds them in an entry
            self._store.storage.delete([self._held])

    def _forget_recovered(self) -> None:
        """Forget the samples that another collector has added: it took this one, which was asleep, for dead."""
        with suppress(KgroupsError, OSError):  # what cannot be read now is tried again
            if self._is_held and self._store.storage.read(self._held) is None:
                self._pending, self._is_held = [], False

    def _recover(self) -> None:
        storage = self._store.storage
        for name in sorted(storage.names(self._held.rpartition("/")[0])):
            content = storage.read(name)
            if content is None:
                continue
            try:
                rows = pa.ipc.open_stream(content).read_all().cast(arrow_schema(HEADS))
            except (pa.ArrowException, ValueError) as error:
                self._notify(f"samples of log ends are lost: {storage.shown}/{name} is damaged: {error}; delete it")
                continue
            missing = rows.filter(pc.invert(pc.is_in(rows["sampled_at"], self._stored_times(rows))))
            if missing.num_rows:
                self._store.add(HEADS_SAMPLED, {HEADS: missing})
                samples = len(missing["sampled_at"].unique())
                self._notify(f"added {count(samples, 'sample')} of log ends that a killed collector left")
            storage.delete([name])

    def _stored_times(self, rows: pa.Table) -> pa.Array:
        """Return which times of samples entries have, among those that may be times of these rows."""
        times = pc.min_max(rows["sampled_at"].cast(pa.int64())).as_py()
        found = [
            batch["sampled_at"].unique()
            for file in self._store.snapshot().files(HEADS)
            if file.first is not None and file.last is not None and times["min"] is not None
            if file.first <= times["max"] and file.last >= times["min"]
            for batch in read_rows(self._store.storage, HEADS, file.path, file.rows)
        ]
        return pa.concat_arrays(found) if found else pa.array([], rows["sampled_at"].type)
