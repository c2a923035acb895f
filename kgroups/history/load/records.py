"""One task of a collection: decode its share of the records once, and write them to files of all tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from kgroups.config.settings import ClientSettings

from ..decode import decode_batch, split
from ..extract.coverage import RangeCounter
from ..extract.ranges import Range
from ..hosts import KEEP_HOSTS, ClientHosts
from ..live.compaction import find_last
from ..tables import COMMITS, RECORDS, STORED, UNDECODED
from .clients import Clients
from .manifest import DataFile, Entry
from .storage import Storage
from .write import TableWriter

_TABLES = {table.name: table for table in STORED}


class SplitJob(NamedTuple):
    """The parameters that all tasks of a batch share."""

    settings: ClientSettings
    topic: str
    storage: Storage
    cluster_id: str
    hosts: ClientHosts = KEEP_HOSTS


class Written(NamedTuple):
    """The files that a task wrote. Never rows."""

    files: tuple[DataFile, ...]
    records: int
    undecoded: int
    """Number of records that could not be decoded."""
    partitions: Mapping[str, Sequence[int]] = {}  # never changed
    """Topic -> partitions with a commit."""
    coverage: Sequence[Mapping[str, Any]] = ()
    """One row for each range that was read."""

    def to_json(self) -> dict[str, Any]:
        return self._asdict() | {"files": [file._asdict() for file in self.files]}

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Written:
        return cls(**{**found, "files": tuple(DataFile(**file) for file in found["files"])})


def collect_split(job: SplitJob, ranges: Sequence[Range]) -> dict[str, Any]:
    """Do what :func:`collect_ranges` does, in a Spark task: with clients of its own, and a result in JSON."""
    with Clients(job.settings) as clients:
        return collect_ranges(job, clients, ranges).to_json()


def collect_ranges(job: SplitJob, clients: Clients, ranges: Sequence[Range]) -> Written:
    """Read ranges of the log, and return what :func:`write_records` does, with its coverage."""
    counter = RangeCounter(ranges)
    records = counter.count(clients.reader.read(ranges, topic=job.topic))
    written = write_records(job.storage, job.cluster_id, records, job.hosts)
    return written._replace(coverage=counter.facts(partial(find_last, clients.session, job.topic)))


def write_records(
    storage: Storage, cluster_id: str, batches: Iterable[pa.RecordBatch], hosts: ClientHosts = KEEP_HOSTS
) -> Written:
    """Write batches of RECORDS to the stored tables."""
    partitions: dict[str, set[int]] = {}
    count = undecoded = 0
    redact = hosts.redaction
    with TableWriter(storage, cluster_id) as writer:
        for records in batches:
            decoded = decode_batch(records, redact)
            writer.add(RECORDS, decoded.select(RECORDS.names))
            tables = split(decoded)
            for name, rows in tables.items():
                if rows.num_rows:
                    writer.add(_TABLES[name], rows)
            count += records.num_rows
            undecoded += len(tables[UNDECODED.name]["reason"].drop_null())
            _add_partitions(partitions, tables[COMMITS.name])
    return Written(writer.files, count, undecoded, {topic: sorted(numbers) for topic, numbers in partitions.items()})


def entry_of(
    kind: str,
    results: Sequence[Written],
    coverage: Sequence[DataFile],
    positions: Mapping[int, int] | None = None,
) -> Entry:
    """Return the entry of what tasks wrote, and of the files with its coverage."""
    return Entry(
        kind,
        (*(file for each in results for file in each.files), *coverage),
        sum(each.records for each in results),
        sum(each.undecoded for each in results),
        positions or {},
    )


def _add_partitions(found: dict[str, set[int]], commits: pa.RecordBatch) -> None:
    places = pa.Table.from_batches([commits.select(["topic", "partition"])])
    for place in places.group_by(places.column_names, use_threads=False).aggregate([]).to_pylist():
        if place["topic"] is not None:
            found.setdefault(place["topic"], set()).add(place["partition"])
