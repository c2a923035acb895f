"""Collect history: a stream from the log into the store, exactly once, and samples of the log end offsets.

Exactly once is the result of Spark's checkpoint (which offsets belong to which batch) and the store's manifest (a
repeated batch overwrites itself). Every start also reads the state of the cluster: tombstones may have been compacted
away while no collector ran, and what the cluster no longer contains was deleted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError
from kgroups.model.counts import count
from kgroups.model.placement import OFFSETS_TOPIC

from .. import register
from ..extract.log import OffsetsLog
from ..extract.source import NAME
from ..live.ask import cluster_id, sample_heads, sweep
from ..load.read import committed_partitions
from ..load.store import BATCH, Entry, Identity, Store
from ..load.write import write_batch
from ..session import root_cause, tune_session
from ..tables import BASELINE, DECODED, SWEEPS
from .heads import HeadSampler
from .stalls import Stalls


class Plan(NamedTuple):
    """How to collect. Times are in seconds; if ``interval`` is ``None``, once up to the last stable offset."""

    settings: ClientSettings
    topic: str = OFFSETS_TOPIC
    interval: float | None = None
    duration: float | None = None
    sample_every: float = 10.0
    max_records: int = 1_000_000
    """Maximum number of offsets in a batch: bounds memory, and what is read again after a kill."""


class Collected(NamedTuple):
    """The result of a run; ``behind`` is the number of stable offsets that were not read when it ended."""

    batches: int
    records: int
    seconds: float
    behind: int


Notify = Callable[[str], None]
"""Prints one line for the user."""

POLL_INTERVAL = 0.2
"""Seconds between two checks for new batches."""

STARTS = 3
"""Maximum number of starts of the stream."""

WORKER_LATE = "Python worker failed to connect back"
"""Spark's message, which has no error condition, if a Python worker takes more than 10 s to start (hard-coded in
``PythonWorkerFactory``), as on a busy machine."""


def collect(spark: SparkSession, store: Store, plan: Plan, notify: Notify = lambda line: None) -> Collected:
    """Run until the log is read (once), the duration is over, or Ctrl-C.

    :raises HistoryError: if the store belongs to another cluster, its checkpoint is lost, or a batch fails.
    :raises ClusterUnreachable: if no bootstrap server responds at the start.
    """
    try:
        return _collect(spark, store, plan, notify)
    except PySparkException as error:
        raise HistoryError(f"collecting stopped: {root_cause(error)}") from None


def _collect(spark: SparkSession, store: Store, plan: Plan, notify: Notify) -> Collected:
    began = time.monotonic()
    tune_session(spark, _prepare(store, plan))
    _take_baseline(store, plan, notify)
    with HeadSampler(store, partial(sample_heads, plan.settings), plan.sample_every, notify) as sampler:
        stalls = Stalls(store, plan.settings, plan.topic, notify)
        follower = _Follower(spark, store, sampler, stalls, notify)
        query = _run_stream(partial(_start, spark, store, plan), plan.duration, follower, notify)
        follower.poll()
        stalls.look(last=True)
    return Collected(follower.batches, follower.records, time.monotonic() - began, _unread_offsets(query))


def _prepare(store: Store, plan: Plan) -> int:
    """Create the store, or check that it matches; return the number of offsets in the log."""
    offsets = sum(ends.stable - ends.start for ends in OffsetsLog(plan.settings, plan.topic).ends().values())
    identity = Identity(cluster_id(plan.settings), plan.topic, datetime.now(UTC).isoformat(timespec="seconds"))
    store.create(identity)
    if not store.has_checkpoint() and any(name.startswith(BATCH) for name in store.names()):
        raise HistoryError(
            f"store {store.shown} has batches, but its checkpoint is missing: the position is unknown; restore it, or "
            "collect into a new store"
        )
    return offsets


def _take_baseline(store: Store, plan: Plan, notify: Notify) -> None:
    found = sweep(plan.settings)
    entry = f"sweep-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    tables = {SWEEPS: found.summary} | ({BASELINE: found.baseline} if found.baseline.num_rows else {})
    for table, rows in tables.items():
        store.put(table.name, entry, rows)
    store.commit(Entry(entry, tuple(table.name for table in tables)))
    notify(f"baseline: {count(found.baseline.num_rows, 'row')} of the cluster as it is")
    (reason,) = found.summary.column("reason").to_pylist()
    if reason:
        notify(f"the retention time of offsets is unknown: {reason}")


def _run_stream(
    start: Callable[[], StreamingQuery], duration: float | None, follower: _Follower, notify: Notify
) -> StreamingQuery:
    """Run the stream to its end, and return the stopped query.

    If a Python worker of Spark connects too late, the stream is restarted, at most :data:`STARTS` starts in all. The
    checkpoint has the position to continue from.

    :raises PySparkException: for any other failure, and after the last start.
    """
    until = None if duration is None else time.monotonic() + duration
    attempt = 1
    while True:
        try:
            query = start()
            try:
                _await(query, until, follower)
            finally:
                query.stop()
            return query
        except PySparkException as error:
            if attempt == STARTS or WORKER_LATE not in str(error):
                raise
        attempt += 1
        notify(f"Spark: a Python worker did not connect within 10 s; restarting (attempt {attempt} of {STARTS})")


def _start(spark: SparkSession, store: Store, plan: Plan) -> StreamingQuery:
    if plan.settings.security:
        register(spark, plan.settings)
    stream = (
        spark.readStream.format(NAME)
        .option("bootstrap.servers", plan.settings.bootstrap_servers)
        .option("timeout", str(max(1, int(plan.settings.timeout))))
        .option("topic", plan.topic)
        .option("table", DECODED.name)
        .option("ranges", "true")
        .option("maxRecordsPerTrigger", str(plan.max_records))
        .load()
    )
    writer = stream.writeStream.foreachBatch(partial(write_batch, store=store)).option(
        "checkpointLocation", store.checkpoint
    )
    if plan.interval is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{int(plan.interval * 1000)} milliseconds").start()


def _await(query: StreamingQuery, until: float | None, follower: _Follower) -> None:
    try:
        while not query.awaitTermination(POLL_INTERVAL):  # type: ignore[arg-type]  # accepts fractions of seconds
            follower.poll()
            if until is not None and time.monotonic() >= until:
                return _let_finish(query)
    except KeyboardInterrupt:
        pass  # how users end it


def _let_finish(query: StreamingQuery) -> None:
    """Wait for the current batch, and at least for the first one: an interrupted batch is repeated."""
    while query.isActive and (query.lastProgress is None or query.status["isTriggerActive"]):
        time.sleep(0.1)
    if failed := query.exception():
        raise failed


def _unread_offsets(query: StreamingQuery) -> int:
    """Return the number of stable offsets that were not read at the last batch."""
    last = query.lastProgress
    if not last:
        return 0
    (source,) = last["sources"]
    read, stable = _offsets(source["endOffset"]), _offsets(source["latestOffset"])
    return sum(max(0, stable[partition] - read.get(partition, 0)) for partition in stable)


def _offsets(text: str | None) -> dict[str, int]:
    return (json.loads(text) if text else None) or {}  # null if only batches planned before the start were run


class _Follower:
    """Reports each new batch in the store, adds its partitions to the samples, and looks for stalls."""

    def __init__(self, spark: SparkSession, store: Store, sampler: HeadSampler, stalls: Stalls, notify: Notify) -> None:
        self._spark, self._store, self._sampler, self._stalls, self._notify = spark, store, sampler, stalls, notify
        self._known = store.names()
        self._last_time = time.monotonic()
        self.batches = self.records = 0
        sampler.watch(committed_partitions(spark, store, store.entries()))

    def poll(self) -> None:
        """Report the batches since the last call."""
        self._stalls.poll()
        names = self._store.names()
        for name in sorted(names - self._known):
            entry = self._store.entry(name) if name.startswith(BATCH) else None
            if entry:
                self._add(entry)
        self._known = names

    def _add(self, entry: Entry) -> None:
        """Report a batch in one line: records, records per second, and records so far."""
        now = time.monotonic()
        self.batches += 1
        self.records += entry.records
        rate = entry.records / max(now - self._last_time, 0.001)
        self._last_time = now
        self._notify(f"batch {self.batches}: {count(entry.records, 'record')}, {rate:,.0f}/s; {self.records:,} in all")
        if entry.undecoded:
            self._notify(
                f"batch {self.batches}: {count(entry.undecoded, 'record')} could not be decoded, see table undecoded; "
                "is this a copy of __consumer_offsets?"
            )
        self._sampler.watch(committed_partitions(self._spark, self._store, [entry]))
