"""Collect history: tasks read the log and write files, and the driver commits what they wrote, exactly once.

Exactly once is the result of the manifest alone: see :mod:`.follower`. Whatever a process has written before it is
killed is never read. Every start also reads the state of the cluster: tombstones may have been compacted away while no
collector ran, and what the cluster no longer contains was deleted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, ClusterUnreachable, HistoryError
from kgroups.model.counts import count
from kgroups.model.placement import OFFSETS_TOPIC

from ..decode.modern import SHARE
from ..extract.ranges import Ends, Range
from ..hosts import AS_STORED, GivenHosts
from ..live.ask import cluster_id, sample_heads, sweep
from ..live.offsets_log import OffsetsLog
from ..load.clients import Clients
from ..load.manifest import BATCH, SWEEP, Entry
from ..load.owner import Owner
from ..load.records import SplitJob, Written, collect_ranges, collect_split, entry_of
from ..load.store import Identity, Store
from ..load.tasks import Notify, TaskRunner
from ..session import root_cause
from ..suspended import Suspensions, elapsed
from ..tables import BASELINE, COVERAGE, SWEEPS
from ..upkeep.automatic import Upkeep
from .follower import FollowedLog, LogFollower
from .heads import HeadSampler
from .shares import ShareStates
from .stalls import Stalls

SMALL = 2_000_000
"""Maximum number of new offsets that this process reads itself: starting Spark would take longer."""

SMALL_OF_MANY = 50_000
"""The same if several clusters are collected: they share the process."""


class Plan(NamedTuple):
    """How to collect. Times are in seconds; if ``interval`` is ``None``, once up to the last stable offset."""

    settings: ClientSettings
    topic: str = OFFSETS_TOPIC
    interval: float | None = None
    duration: float | None = None
    sample_every: float = 10.0
    max_records: int = 1_000_000
    """Maximum number of offsets in a batch: what is read again after a kill."""
    hosts: GivenHosts = AS_STORED
    retention: timedelta | None = None
    """Age at which rows are deleted, at most once a day; ``None``: never."""


class Collected(NamedTuple):
    """The result of a run.

    ``behind`` is the number of stable offsets that were not read when it ended. ``incomplete``: what else was not
    collected.
    """

    batches: int
    records: int
    seconds: float
    behind: int
    incomplete: str | None = None


def collect(
    open_session: Callable[[], SparkSession],
    store: Store,
    plan: Plan,
    notify: Notify = lambda line: None,
    small: int = SMALL,
    on_batch: Callable[[Entry], None] = lambda entry: None,
    stopped: threading.Event | None = None,
    progress: Notify | None = None,
    clients: Clients | None = None,
) -> Collected:
    """Run until the log is read (once), or the duration is over or Ctrl-C (with an interval).

    :param open_session: starts Spark; called once, in another thread, if more than ``small`` offsets are new.
    :param small: maximum number of new offsets that are read without Spark.
    :param on_batch: called with each entry of records after its commit.
    :param stopped: ends the run as Ctrl-C does, after the current batch: Python interrupts the main thread only.
    :param progress: gets the lines about what was collected; default: ``notify``, which also gets those about failures.
    :param clients: of the cluster, closed at the end; default: new ones.
    :raises HistoryError: if the store belongs to another topic or another collector, or a batch fails.
    :raises ClusterUnreachable: if no bootstrap server responds at the start.
    """
    try:
        stopped = stopped or threading.Event()
        with clients or Clients(plan.settings) as used:
            tasks = TaskRunner(open_session, store, small, notify)
            return _Collector(tasks, store, plan, used, notify, on_batch, stopped, progress or notify).run()
    except (PySparkException, Py4JError) as error:
        raise HistoryError(f"collecting stopped: {root_cause(error)}") from None


class _Collector:
    """One run."""

    def __init__(
        self,
        tasks: TaskRunner,
        store: Store,
        plan: Plan,
        clients: Clients,
        notify: Notify,
        on_batch: Callable[[Entry], None],
        stopped: threading.Event,
        progress: Notify,
    ) -> None:
        self._tasks, self._clients = tasks, clients
        self._on_batch, self._stopped = on_batch, stopped
        self._store, self._plan, self._notify, self._progress = store, plan, notify, progress
        self._log = OffsetsLog(clients.session, plan.topic)
        followed = FollowedLog(
            plan.topic, "the log", COVERAGE, lambda snapshot: snapshot.positions, partial(entry_of, BATCH)
        )
        self._follower = LogFollower(followed, self._log, store, self._read, plan.max_records, notify)
        self._stalls = Stalls(store, self._log, notify)
        self._shares = ShareStates(store, clients, plan.max_records, notify, progress)
        self._batches = self._records = 0
        self._last_time = time.monotonic()

    def run(self) -> Collected:
        began = time.monotonic()
        given = self._plan.hosts
        new = given.for_new_store()
        ends = self._log.ends()
        created = datetime.now(UTC).isoformat(timespec="seconds")
        cluster = cluster_id(self._clients.session)
        identity = Identity(cluster, self._plan.topic, created, self._log.topic_id, new.how, new.salt_id)
        found = self._store.create(identity)
        hosts = given.for_store(self._store.shown, found.client_hosts, found.salt_id)
        self._job = SplitJob(self._plan.settings, self._plan.topic, self._store.storage, self._store.cluster, hosts)
        with (
            Owner(self._store),
            Upkeep(self._store, self._notify, retention=self._plan.retention, once=self._plan.interval is None),
            HeadSampler(
                self._store, partial(sample_heads, self._clients.session), self._plan.sample_every, self._notify
            ) as sampler,
        ):
            # How users end a continuous collection; any other is then incomplete.
            with suppress(*(() if self._plan.interval is None else (KeyboardInterrupt,))):
                self._tasks.expect(self._behind(ends))
                sampler.watch(self._take_baseline())
                self._follow(ends, sampler, None if self._plan.duration is None else began + self._plan.duration)
            ends = self._stalls.look(last=True, idle=not self._batches)
        behind = self._behind(ends)
        incomplete = "the states of share groups are incomplete; see above" if self._shares.failed else None
        return Collected(self._batches, self._records, time.monotonic() - began, behind, incomplete)

    def _behind(self, ends: Mapping[int, Ends]) -> int:
        """Return the number of stable offsets that are not read."""
        positions = self._store.snapshot().positions
        return sum(max(0, each.stable - positions.get(partition, each.start)) for partition, each in ends.items())

    def _follow(self, ends: Mapping[int, Ends], sampler: HeadSampler, until: float | None) -> None:
        """Collect up to the stable offsets; again and again if there is an interval."""
        with Suspensions() as suspensions:
            while True:
                began, due = elapsed(), time.monotonic() + (self._plan.interval or 0)
                try:
                    self._collect_up_to(ends, sampler, until)
                    if self._plan.interval is None:
                        return
                    wake = due if until is None else min(due, until)
                    while (left := wake - time.monotonic()) > 0:
                        self._stalls.poll()
                        self._pause(min(1.0, left))
                    if until is not None and time.monotonic() >= until:
                        return
                    ends = self._log.ends()
                    self._tasks.expect(self._behind(ends))
                except (BrokerUnavailable, ClusterUnreachable) as error:
                    # Time limits expire while the process is suspended, and brokers close its connections.
                    if not (seconds := suspensions.since(began)):
                        raise
                    self._notify(f"this process was suspended for {seconds:.0f} s; trying again after: {error}")

    def _collect_up_to(self, ends: Mapping[int, Ends], sampler: HeadSampler, until: float | None) -> None:
        """Collect up to the stable offsets, and the states of share groups."""
        for batch in self._follower.batches(ends):
            self._on_batch(batch.entry)
            self._report(batch.entry)
            sampler.watch(
                (topic, partition)
                for each in batch.results
                for topic, partitions in each.partitions.items()
                for partition in partitions
            )
            self._stalls.poll()
            self._pause(0)
            if until is not None and time.monotonic() >= until:
                return
        self._collect_shares()

    def _collect_shares(self) -> None:
        """Collect the states of share groups, unless the topic is a copy: then they are of another cluster."""
        for _ in self._shares.batches() if self._plan.topic == OFFSETS_TOPIC else ():
            self._stalls.poll()
            self._pause(0)

    def _pause(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise KeyboardInterrupt

    def _read(self, ranges: Sequence[Range]) -> list[Written]:
        """Read in this process or on Spark."""
        here = partial(collect_ranges, self._job, self._clients)
        return self._tasks.run(ranges, here, partial(collect_split, self._job), Written.of_json)

    def _take_baseline(self) -> list[tuple[str, int]]:
        """Store the state of the cluster; return the partitions with a commit."""
        found = sweep(self._clients.session)
        self._store.add(SWEEP, {SWEEPS: found.summary, BASELINE: found.baseline})
        rows = f"baseline: {count(found.baseline.num_rows, 'row')} of the cluster"
        if all(found.summary.column("complete").to_pylist()):
            self._progress(f"{rows} as it is")
        else:
            self._notify(
                f"{rows}, and others may be missing: which groups were deleted is unknown until the next start"
            )
        self._shares.expected = SHARE in found.baseline["kind"].to_pylist()
        (reason,) = found.summary.column("reason").to_pylist()
        if reason:
            self._notify(f"the retention time of offsets is unknown: {reason}")
        places = zip(found.baseline["topic"].to_pylist(), found.baseline["partition"].to_pylist(), strict=True)
        return [(topic, partition) for topic, partition in places if topic is not None]

    def _report(self, entry: Entry) -> None:
        """Report a batch in one line: records, records per second, and records so far."""
        now = time.monotonic()
        self._batches += 1
        self._records += entry.records
        rate = entry.records / max(now - self._last_time, 0.001)
        self._last_time = now
        number = self._batches
        self._progress(f"batch {number}: {count(entry.records, 'record')}, {rate:,.0f}/s; {self._records:,} in all")
        if entry.undecoded:
            self._notify(
                f"batch {number}: {count(entry.undecoded, 'record')} could not be decoded, see table undecoded; "
                "is this a copy of __consumer_offsets?"
            )
