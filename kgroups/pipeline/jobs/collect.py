"""Collects history: a stream from the log into the store, exactly once, with log heads sampled beside it.

Exactly once is Spark's checkpoint (which offsets belong to which batch) and the store's manifest (a batch that comes
again overwrites itself). At every start the cluster itself is asked: tombstones may have been compacted away while no
collector ran, and what the cluster does not know any more is gone.
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
from ..load.write import keep_batch
from ..session import reason, suit
from ..tables import BASELINE, DECODED
from .heads import HeadSampler


class Plan(NamedTuple):
    """How to collect. Times in seconds; ``interval`` None means once, up to what is stable now."""

    settings: ClientSettings
    topic: str = OFFSETS_TOPIC
    interval: float | None = None
    duration: float | None = None
    sample_every: float = 10.0
    most: int = 1_000_000
    """Offsets in a batch: bounds memory and what a kill makes to be read again."""


class Collected(NamedTuple):
    """What a run brought; ``behind`` counts the offsets that were stable, but not read, when it ended."""

    batches: int
    records: int
    seconds: float
    behind: int


Tell = Callable[[str], None]

LOOK = 0.2
"""Seconds between two looks for new batches."""

STARTS = 3
"""Maximum number of starts of the stream."""

WORKER_LATE = "Python worker failed to connect back"
"""Spark's message, which has no error condition, if a Python worker takes more than 10 s to start (hard-coded in
``PythonWorkerFactory``), as on a busy machine."""


def collect(spark: SparkSession, store: Store, plan: Plan, tell: Tell = lambda line: None) -> Collected:
    """Runs until the log is read (once), the duration is over, or Ctrl-C.

    :raises HistoryError: when the store belongs to another cluster, its checkpoint is lost, or a batch fails.
    :raises ClusterUnreachable: when nobody answers at the start.
    """
    try:
        return _collect(spark, store, plan, tell)
    except PySparkException as error:
        raise HistoryError(f"collecting stopped: {reason(error)}") from None


def _collect(spark: SparkSession, store: Store, plan: Plan, tell: Tell) -> Collected:
    began = time.monotonic()
    suit(spark, _prepare(store, plan))
    _take_baseline(store, plan, tell)
    with HeadSampler(store, partial(sample_heads, plan.settings), plan.sample_every, tell) as sampler:
        follower = _Follower(spark, store, sampler, tell)
        query = _run(partial(_start, spark, store, plan), plan.duration, follower, tell)
        follower.look()
    _tell_of_open_transactions(plan, tell)
    return Collected(follower.batches, follower.records, time.monotonic() - began, _behind(query))


def _prepare(store: Store, plan: Plan) -> int:
    """Sees to it that all that is needed is there; gives how many offsets the log has."""
    offsets = sum(ends.stable - ends.start for ends in OffsetsLog(plan.settings, plan.topic).ends().values())
    identity = Identity(cluster_id(plan.settings), plan.topic, datetime.now(UTC).isoformat(timespec="seconds"))
    store.create(identity)
    if not store.has_checkpoint() and any(name.startswith(BATCH) for name in store.names()):
        raise HistoryError(
            f"store {store.shown} has batches, but its checkpoint is missing: the position is unknown; restore it, or "
            "collect into a new store"
        )
    return offsets


def _take_baseline(store: Store, plan: Plan, tell: Tell) -> None:
    rows = sweep(plan.settings)
    entry = f"sweep-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    if rows.num_rows:
        store.put(BASELINE.name, entry, rows)
        store.commit(Entry(entry, (BASELINE.name,)))
    tell(f"baseline: {count(rows.num_rows, 'row')} of the cluster as it is")


def _run(
    start: Callable[[], StreamingQuery], duration: float | None, follower: _Follower, tell: Tell
) -> StreamingQuery:
    """Run the stream to its end, and return the stopped query.

    Restarts it if a Python worker of Spark connected too late, at most :data:`STARTS` starts in all: the checkpoint
    says where to continue.

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
        tell(f"Spark: a Python worker did not connect within 10 s; restarting (attempt {attempt} of {STARTS})")


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
        .option("maxRecordsPerTrigger", str(plan.most))
        .load()
    )
    keep = partial(keep_batch, store=store)
    writer = stream.writeStream.foreachBatch(keep).option("checkpointLocation", store.checkpoint)
    if plan.interval is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{int(plan.interval * 1000)} milliseconds").start()


def _await(query: StreamingQuery, until: float | None, follower: _Follower) -> None:
    try:
        while not query.awaitTermination(LOOK):  # type: ignore[arg-type]  # it takes fractions of seconds
            follower.look()
            if until is not None and time.monotonic() >= until:
                return _let_finish(query)
    except KeyboardInterrupt:
        pass  # the way to end it


def _let_finish(query: StreamingQuery) -> None:
    """Waits for the batch that is under way, and for the first one in any case: stopped in its midst it comes again."""
    while query.isActive and (query.lastProgress is None or query.status["isTriggerActive"]):
        time.sleep(0.1)
    if failed := query.exception():
        raise failed


def _tell_of_open_transactions(plan: Plan, tell: Tell) -> None:
    for partition, ends in OffsetsLog(plan.settings, plan.topic).ends().items():
        if ends.end > ends.stable:
            tell(
                f"partition {partition}: {count(ends.end - ends.stable, 'offset waits', 'offsets wait')} behind an "
                "open transaction; if it hangs, history of this partition stands still"
            )


def _behind(query: StreamingQuery) -> int:
    """Offsets that were stable, but not read, at the last batch."""
    last = query.lastProgress
    if not last:
        return 0
    (source,) = last["sources"]
    read, stable = _offsets(source["endOffset"]), _offsets(source["latestOffset"])
    return sum(max(0, stable[partition] - read.get(partition, 0)) for partition in stable)


def _offsets(text: str | None) -> dict[str, int]:
    return (json.loads(text) if text else None) or {}  # null, when only what was planned before was done


class _Follower:
    """Sees each batch as it comes into the store: tells of it, and has its partitions sampled."""

    def __init__(self, spark: SparkSession, store: Store, sampler: HeadSampler, tell: Tell) -> None:
        self._spark, self._store, self._sampler, self._tell = spark, store, sampler, tell
        self._seen = store.names()
        self._last = time.monotonic()
        self.batches = self.records = 0
        sampler.watch(committed_partitions(spark, store, store.entries()))

    def look(self) -> None:
        names = self._store.names()
        for name in sorted(names - self._seen):
            entry = self._store.entry(name) if name.startswith(BATCH) else None
            if entry:
                self._add(entry)
        self._seen = names

    def _add(self, entry: Entry) -> None:
        """One line a batch: records, records a second, and all so far."""
        now = time.monotonic()
        self.batches += 1
        self.records += entry.records
        rate = entry.records / max(now - self._last, 0.001)
        self._last = now
        self._tell(f"batch {self.batches}: {count(entry.records, 'record')}, {rate:,.0f}/s; {self.records:,} in all")
        if entry.undecoded:
            self._tell(
                f"batch {self.batches}: {count(entry.undecoded, 'record')} could not be decoded, see table undecoded; "
                "is this a copy of __consumer_offsets?"
            )
        self._sampler.watch(committed_partitions(self._spark, self._store, [entry]))
