"""A store with rows of two clusters, and what is published from it. Without Spark."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog
from pyiceberg.table import Table as IcebergTable

from kgroups.history.arrow import arrow_schema, to_batch
from kgroups.history.load.manifest import BATCH, COMPACTED, Entry
from kgroups.history.load.store import Identity, Store
from kgroups.history.load.write import CLUSTER_ID
from kgroups.history.publish.run import Published, publish
from kgroups.history.publish.target import Target
from kgroups.history.tables import COMMITS, HEADS, MEMBERS, STORED, Table

Digest = tuple[int, str]
"""Number of rows, and a checksum of their content."""


def digest(rows: pa.Table, table: Table) -> Digest:
    schema = pa.schema([CLUSTER_ID, *arrow_schema(table)])
    values = sorted(map(repr, rows.select(schema.names).cast(schema).to_pylist()))
    return len(values), hashlib.sha256("\n".join(values).encode()).hexdigest()


def add_batch(store: Store, number: int) -> Entry:
    """Add rows of two days, and one without a time."""
    times = [datetime(2026, 1, 1, 5, tzinfo=UTC), datetime(2026, 1, 2, 6, 7, 8, 999_999, tzinfo=UTC), None]
    place: list[dict[str, Any]] = [
        {"log_partition": 3, "log_offset": 10 * number + at, "log_time": time, "group": "zürich", "tombstone": False}
        for at, time in enumerate(times)
    ]
    commits = [each | {"topic": "t", "partition": 0, "committed_offset": 2**40} for each in place]
    members = [each | {"kind": "classic", "member_id": "m", "topics": ["a", "b"][:number]} for each in place]
    heads = [{"sampled_at": times[0], "topic": "t", "partition": number, "log_start": 0, "log_end": 9}]
    found = {table: to_batch(table, rows) for table, rows in ((COMMITS, commits), (MEMBERS, members), (HEADS, heads))}
    return store.add(BATCH, found)


def compact(store: Store) -> Entry:
    """Replace all entries by one, as the job does with Spark."""
    snapshot = store.snapshot()
    with store.writer() as writer:
        for table in STORED:
            if files := snapshot.files(table):
                rows = pa.concat_tables([pq.ParquetFile(store.storage.opened(file.path)).read() for file in files])
                for batch in rows.drop_columns([CLUSTER_ID.name]).combine_chunks().to_batches():
                    writer.add(table, batch)
    return store.commit(Entry(COMPACTED, writer.files, replaces=tuple(snapshot.entries)))


class Scene(NamedTuple):
    """A store with two clusters, where to publish it, and a reader of what was published."""

    store: Store
    other: Store
    target: Callable[[], Target]
    read: Callable[[Table], pa.Table]

    def publish(self) -> Published:
        return publish(self.store.location, self.target())

    def expected(self, table: Table) -> Digest:
        files = [file for store in (self.store, self.other) for file in store.snapshot().files(table)]
        rows = [pq.read_table(self.store.storage.opened(file.path), partitioning=None) for file in files]
        schema = pa.schema([CLUSTER_ID, *arrow_schema(table)])
        return digest(pa.concat_tables([schema.empty_table(), *rows], promote_options="default"), table)

    def published(self, table: Table) -> Digest:
        return digest(self.read(table), table)

    def assert_published(self) -> None:
        assert {table.name: self.published(table) for table in STORED} == {
            table.name: self.expected(table) for table in STORED
        }


def make_stores(location: str) -> tuple[Store, Store]:
    stores = Store(location), Store(location)
    for store, cluster in zip(stores, ("cluster-1", "cluster/2"), strict=True):
        store.create(Identity(cluster, "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1"))
        for number in (1, 2):
            add_batch(store, number)
    return stores


def iceberg(catalog: dict[str, str], table: Table) -> IcebergTable:
    server = {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"]} if "AWS_ENDPOINT_URL" in os.environ else {}
    loaded = load_catalog("test", **catalog, **server)
    try:
        return loaded.load_table(f"kgroups.{table.name}")
    finally:
        loaded.close()


def delta(store: Store, table: Table) -> DeltaTable:
    options = {} if store.storage.folder else {"allow_http": "true"}
    return DeltaTable(f"{store.location}/{table.name}", storage_options=options)


def polars_frame(scanned: pl.LazyFrame) -> pa.Table:
    return scanned.collect().to_arrow()
