"""Write a DataFrame into the store by Spark's commit protocol: the sink of ``kgroups-history``.

Each task writes its files, and returns a commit message that names them. The driver's commit adds one entry to the
manifest, with the files of these messages: what other attempts of a task wrote is never read, and deleted with all
files that no entry names.

Exactly once is the result of the manifest alone: tasks omit records before the positions of the store, and the entry
is added on the condition that no other one changed these positions.

Two schemas are accepted. Rows are records (table ``records`` of ``kgroups-offsets``), or ranges of offsets, whose
records the tasks read themselves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError, KgroupsError, UsageError
from kgroups.model.placement import OFFSETS_TOPIC

from ..arrow import arrow_schema, to_batch
from ..extract.coverage import RangeCounter
from ..extract.ranges import Ends, Range
from ..hosts import AS_STORED, KEEP_HOSTS, ClientHosts, GivenHosts
from ..live.ask import cluster_id
from ..live.compaction import find_last, last_compacted
from ..live.offsets_log import OffsetsLog
from ..live.wire_session import WireSession
from ..suspended import elapsed
from ..tables import COVERAGE, RECORDS, Column
from .clients import Clients
from .manifest import BATCH, Snapshot
from .records import SplitJob, Written, collect_ranges, entry_of, write_records
from .store import Identity, Store

_BOUNDS: Final = ("log_partition", "from_offset", "to_offset")
RANGES: Final = tuple(column for column in COVERAGE.columns if column.name in _BOUNDS)
"""The columns of a DataFrame of ranges; ``to_offset`` is exclusive."""

Fact = Mapping[str, Any]
"""A row of coverage."""


class SinkJob(NamedTuple):
    """The parameters that all tasks of a write share. It may contain secrets, and is pickled: Spark never shows it."""

    source: str
    """For messages."""
    location: str
    cluster_id: str
    are_ranges: bool
    """Whether rows are ranges, not records."""
    positions: Mapping[int, int]
    """Of the store when the write was planned, by log partition."""
    hosts: ClientHosts = KEEP_HOSTS
    settings: ClientSettings | None = None
    """Of the cluster; ``None``: no broker is asked, and what compaction deleted is unknown."""
    topic: str = OFFSETS_TOPIC
    ends: Mapping[int, Ends] = {}  # never changed
    """Of the log when the write was planned; empty without settings."""


@dataclass
class Part(WriterCommitMessage):
    """The commit message of a task."""

    written: Written
    began: float
    """When the task began, in seconds since 1970."""
    positions: Mapping[int, int]
    """Positions of the store: earlier records were omitted."""


def plan_write(
    source: str,
    store: Store,
    schema: StructType,
    overwrite: bool,
    settings: ClientSettings | None = None,
    topic: str = OFFSETS_TOPIC,
    given: GivenHosts = AS_STORED,
) -> SinkJob:
    """Return the job that writes a DataFrame of a schema.

    :param settings: of the cluster: its ID is compared with that of the store, which is created if it does not exist.
        Required for ranges.
    :param given: the salt, if the store hashes client hosts.
    :raises UsageError: if the mode, the schema, or an option is invalid.
    :raises HistoryError: if there is no store, or it is of another cluster.
    """
    if overwrite:
        raise UsageError(f"{source}: mode overwrite would delete the history of the store; use mode append")
    are_ranges = _has_ranges(source, schema)
    ends: Mapping[int, Ends] = {}
    if settings:
        session = WireSession(settings)
        try:
            log = OffsetsLog(session, topic)
            ends = log.ends()
            new, created = given.for_new_store(), datetime.now(UTC).isoformat(timespec="seconds")
            found = store.create(Identity(cluster_id(session), topic, created, log.topic_id, new.how, new.salt_id))
        finally:
            session.close()
    elif are_ranges:
        raise UsageError(f"{source}: rows are ranges of offsets, and option bootstrap.servers is not set")
    else:
        found = store.identity()
    hosts = given.for_store(store.shown, found.client_hosts, found.salt_id)
    positions = store.snapshot().positions
    return SinkJob(source, store.location, store.cluster, are_ranges, positions, hosts, settings, found.topic, ends)


def _has_ranges(source: str, schema: StructType) -> bool:
    """Return whether rows of a schema are ranges; otherwise, they are records.

    :raises UsageError: if they are neither.
    """
    found = {field.name.lower(): field.dataType.simpleString() for field in schema}
    for columns, are_ranges in ((RECORDS.columns, False), (RANGES, True)):
        if found == {column.name: column.type for column in columns} and len(schema) == len(columns):
            return are_ranges
    raise UsageError(
        f"{source}: these columns cannot be written: {_shown(found)}; write {_ddl(RECORDS.columns)}, as kgroups-"
        f"offsets returns with option table=records, or {_ddl(RANGES)}"
    )


def _ddl(columns: Sequence[Column]) -> str:
    return _shown({column.name: column.type for column in columns})


def _shown(types: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in types.items())


class _Writer:
    """What batch and stream share."""

    def __init__(self, job: SinkJob) -> None:
        self._job = job

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Write the files of a task.

        :raises HistoryError: if a file cannot be written, or rows are not in order.
        """
        began = time.time()
        written = _collect(self._job, iterator) if self._job.are_ranges else _store(self._job, iterator)
        return Part(written, began, self._job.positions)

    def _commit(self, messages: Iterable[WriterCommitMessage | None]) -> None:
        parts = [message for message in messages if isinstance(message, Part)]
        commit_parts(self._job, parts)

    def _abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Delete the files of tasks, unless all tasks succeeded: then a commit failed, and may have added its entry.

        What remains is deleted with other files that no entry names.
        """
        if None in messages:
            storage = Store(self._job.location).storage
            for part in messages:
                if isinstance(part, Part):
                    storage.delete([file.path for file in part.written.files])


class HistoryWriter(_Writer, DataSourceArrowWriter):
    """A batch; one entry."""

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        self._commit(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._abort(messages)


class HistoryStreamWriter(_Writer, DataSourceStreamArrowWriter):
    """A stream; one entry for each micro-batch. One that Spark repeats has no new records, and adds none."""

    def commit(self, messages: list[WriterCommitMessage | None], batch_id: int) -> None:
        self._commit(messages)

    def abort(self, messages: list[WriterCommitMessage | None], batch_id: int) -> None:
        self._abort(messages)


# In tasks.


def _collect(job: SinkJob, batches: Iterator[pa.RecordBatch]) -> Written:
    """Read and store the new part of ranges."""
    ranges = list(_new_ranges(job, batches))
    if not ranges:
        return Written((), 0, 0)
    assert job.settings is not None
    storage = Store(job.location).storage
    with Clients(job.settings) as clients:
        return collect_ranges(SplitJob(job.settings, job.topic, storage, job.cluster_id, job.hosts), clients, ranges)


def _new_ranges(job: SinkJob, batches: Iterator[pa.RecordBatch]) -> Iterator[Range]:
    """Yield the part of each range after the position of the store; adjacent ranges are merged."""
    given = sorted(Range(*row.values()) for batch in batches for row in batch.select(_BOUNDS).to_pylist())
    last: Range | None = None
    for piece in given:
        end = job.ends.get(piece.partition)
        if end is None or piece.start > piece.stop or piece.stop > end.stable:
            known = f"its last stable offset is {end.stable}" if end else "it does not exist"
            raise HistoryError(f"{job.source}: {_name(piece)} cannot be read: {known}")
        piece = piece._replace(start=max(piece.start, job.positions.get(piece.partition, 0)))
        if piece.span <= 0:
            continue
        if last and last.partition == piece.partition:
            if last.stop != piece.start:
                raise HistoryError(f"{job.source}: {_name(last)} and {_name(piece)} do not touch")
            last = last._replace(stop=piece.stop)
            continue
        if last:
            yield last
        last = piece
    if last:
        yield last


def _name(piece: Range) -> str:
    return f"range {piece.start} to {piece.stop} of log partition {piece.partition}"


def _store(job: SinkJob, batches: Iterator[pa.RecordBatch]) -> Written:
    """Store the new records."""
    new = _NewRecords(job)
    written = write_records(Store(job.location).storage, job.cluster_id, new.of(batches), job.hosts)
    return written._replace(coverage=new.facts())


class _NewRecords:
    """The records that the store does not have, and their ranges."""

    def __init__(self, job: SinkJob) -> None:
        self._job = job
        self._counter = RangeCounter()
        self._next: dict[int, int] = {}

    def of(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the new records.

        :raises HistoryError: if the records of a partition are not in ascending order of their offsets.
        """
        schema = arrow_schema(RECORDS)
        for given in batches:
            # Spark uses the time zone of its session.
            batch = given.select(schema.names).cast(schema)
            if any(batch[name].null_count for name in ("log_partition", "log_offset")):
                raise HistoryError(f"{self._job.source}: log_partition and log_offset must not be null")
            new = self._new(batch)
            if new.num_rows:
                self._counter.add(new)
                yield new

    def _new(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        partitions, offsets = np.asarray(batch["log_partition"]), np.asarray(batch["log_offset"])
        is_new = np.ones(len(batch), bool)
        for partition in np.unique(partitions).tolist():
            chosen = partitions == partition
            if position := self._job.positions.get(partition):
                is_new &= ~chosen | (offsets >= position)
                chosen &= offsets >= position
            if chosen.any():
                self._check(partition, offsets[chosen])
        return batch if is_new.all() else batch.filter(pa.array(is_new))

    def _check(self, partition: int, offsets: npt.NDArray[Any]) -> None:
        first = int(offsets[0])
        if first < self._next.get(partition, first) or (np.diff(offsets) <= 0).any():
            raise _not_in_order(self._job, partition)
        if partition not in self._next:
            self._counter.begin(Range(partition, first, first))
        self._next[partition] = int(offsets[-1]) + 1

    def facts(self) -> list[Fact]:
        """Return a row of coverage for each partition, from its first record to its last."""
        if self._job.settings is None:
            unknown = dict.fromkeys(("compacted", "compacted_to", "whole_since"))
            return [self._ended(fact) | unknown for fact in self._counter.facts(dict.fromkeys)]
        session = WireSession(self._job.settings)
        try:
            return [self._ended(fact) for fact in self._counter.facts(partial(find_last, session, self._job.topic))]
        finally:
            session.close()

    def _ended(self, fact: Fact) -> dict[str, Any]:
        return {**fact, "to_offset": self._next[fact["log_partition"]]}


def _not_in_order(job: SinkJob, partition: int) -> HistoryError:
    return HistoryError(
        f"{job.source}: records of log partition {partition} are not in the order of their offsets, or repeated; write "
        "them as kgroups-offsets returns them, or after repartitionByRange and sortWithinPartitions"
    )


# On the driver.


def commit_parts(job: SinkJob, parts: Sequence[Part]) -> None:
    """Add one entry with the files of parts; none if they have no records, and no ranges.

    :raises HistoryError: if parts overlap, ranges begin after the position of the store, or another writer changed it;
        then the files are deleted.
    """
    store = Store(job.location, job.cluster_id)
    files = [file.path for part in parts for file in part.written.files]
    facts = sorted(
        (fact for part in parts for fact in part.written.coverage), key=itemgetter("log_partition", "from_offset")
    )
    if not facts:
        return
    before, began = parts[0].positions, min(part.began for part in parts)
    try:
        rows, positions = _cover(job, facts, before)
        with store.writer() as writer:
            writer.add(COVERAGE, to_batch(COVERAGE, rows))
        entry = entry_of(BATCH, [part.written for part in parts], writer.files, positions)
        files += [file.path for file in writer.files]
    except HistoryError:
        store.storage.delete(files)
        raise
    refused = partial(_check_unchanged, job, store, before, positions)
    try:
        store.commit(entry, refused, began=elapsed() - max(0.0, time.time() - began))
    except Refused:
        # This commit cannot add its entry anymore. But if a response was lost, it has: then the entry names the files.
        if store.delete_unnamed(files):
            raise
    with suppress(KgroupsError):  # the entry is committed; the next one does it
        store.delete_orphans_daily()


class Refused(HistoryError):
    """Another writer added an entry since the write was planned: nothing was changed."""


def _check_unchanged(
    job: SinkJob, store: Store, before: Mapping[int, int], positions: Mapping[int, int], snapshot: Snapshot
) -> None:
    now = snapshot.positions
    for partition in positions:
        if now.get(partition) != before.get(partition):
            raise Refused(
                f"{job.source}: another writer added records of log partition {partition} to store {store.shown}; this "
                "write is dropped, and nothing is lost: write again"
            )


def _cover(
    job: SinkJob, facts: Sequence[Fact], before: Mapping[int, int]
) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """Return the rows of coverage, and the positions after them.

    :raises HistoryError: if the parts of a partition overlap, or ranges have gaps.
    """
    rows: list[dict[str, Any]] = []
    positions: dict[int, int] = {}
    sampled_at = datetime.now(UTC)
    for partition, found in groupby(facts, itemgetter("log_partition")):
        pieces, reached = [dict(fact) for fact in found], before.get(partition)
        for piece in pieces:
            if reached is not None and piece["from_offset"] < reached:
                raise _not_in_order(job, partition)
            if job.are_ranges and reached is not None and piece["from_offset"] > reached:
                raise HistoryError(
                    f"{job.source}: ranges of log partition {partition} begin at offset {piece['from_offset']}, but "
                    f"the store has it up to {reached}: offsets between them would be lost"
                )
            reached = piece["to_offset"]
        positions[partition] = pieces[-1]["to_offset"]
        rows += pieces if job.settings else [_merged(pieces)]
    if job.settings and not job.are_ranges:
        _close_gaps(job.settings, job.topic, rows, before)
    for row in rows:
        row["sampled_at"] = sampled_at
        if end := job.ends.get(row["log_partition"]):
            row |= {"last_stable_offset": end.stable, "high_watermark": end.end}
    return rows, positions


def _merged(pieces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one range from the first to the last: whether records between them are missing is unknown."""
    return {
        **pieces[0],
        "to_offset": pieces[-1]["to_offset"],
        "records": sum(piece["records"] for piece in pieces),
        "last_time": pieces[-1]["last_time"],
    }


def _close_gaps(
    settings: ClientSettings, topic: str, rows: Sequence[dict[str, Any]], before: Mapping[int, int]
) -> None:
    """Let ranges begin where the range before ended, if offsets between them only had transaction markers."""
    reached, gaps = dict(before), {}
    for number, row in enumerate(rows):
        partition, start = row["log_partition"], reached.get(row["log_partition"], row["from_offset"])
        if start < row["from_offset"]:
            gaps[number] = (partition, start, row["from_offset"])
        reached[partition] = row["to_offset"]
    session = WireSession(settings)
    try:
        for number, (partition, start, stop) in gaps.items():
            with suppress(KgroupsError):  # the gap stays
                if last_compacted(session, topic, {partition: [(start, stop)]})[partition] is None:
                    rows[number]["from_offset"] = start
    finally:
        session.close()
