"""The stream of ``kgroups-history``: each row once, whatever was merged between two batches."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles

from kgroups.errors import HistoryError, UsageError
from kgroups.history.arrow import arrow_schema
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import Identity, Store
from kgroups.history.stored.source import StoredSource, StoredStreamReader
from kgroups.history.tables import COMMITS
from kgroups.history.upkeep.compact import compact
from tests.fakes.history import History

NOW = timedelta(0)


class Stream:
    """A store that grows by one commit at a time, and a stream of it."""

    def __init__(self, location: Path, **options: str) -> None:
        self.store = Store(str(location))
        self.store.create(Identity("c", "__consumer_offsets", "2026-03-01"))
        self._history = History()
        self._options = {"path": str(location), "columns": "committed_offset", **options}
        self.written = 0
        self.position: dict[str, int] | None = None
        self.read: list[int] = []

    def collect(self, entries: int = 1) -> None:
        for _ in range(entries):
            self._history.commit("g", self.written, self.written)
            rows = pa.Table.from_pylist(self._history.rows["commits"][-1:], arrow_schema(COMMITS))
            self.store.add(BATCH, {COMMITS: rows})
            self.written += 1

    def reader(self) -> StoredStreamReader:
        source = StoredSource(self._options)
        return source.streamReader(source.schema())

    def batch(self, *, commits: bool = True) -> int:
        """Read a batch as Spark does, with a new reader, as after a restart; return the number of rows."""
        reader = self.reader()
        if self.position is None:
            self.position = reader.initialOffset()
        end = reader.latestOffset(self.position, reader.getDefaultReadLimit())
        rows = self.rows(self.position, end)
        if commits:
            self.read += rows
            self.position = end
            reader.commit(end)
        return len(rows)

    def rows(self, start: dict[str, int], end: dict[str, int]) -> list[int]:
        reader = self.reader()
        batches = [batch for part in reader.partitions(start, end) for batch in reader.read(part)]
        return [row["committed_offset"] for batch in batches for row in batch.to_pylist()]


def test_stream_reads_each_row_once_while_files_are_merged(tmp_path: Path) -> None:
    chance = random.Random(5)
    stream = Stream(tmp_path)
    for _ in range(30):
        step = chance.choice((stream.collect, stream.collect, lambda: compact(stream.store), stream.batch))
        step()
    stream.batch()
    assert stream.read == list(range(stream.written))
    assert stream.batch() == 0


def test_stream_begins_with_what_was_merged_and_deleted(tmp_path: Path) -> None:
    stream = Stream(tmp_path, maxEntriesPerTrigger="2")
    stream.collect(5)
    compact(stream.store)
    compact(stream.store, grace=NOW)
    stream.collect(3)
    assert [stream.batch() for _ in range(4)] == [5, 2, 1, 0]
    assert sorted(stream.read) == list(range(8))


def test_stream_reads_at_most_some_entries(tmp_path: Path) -> None:
    stream = Stream(tmp_path, maxEntriesPerTrigger="2")
    assert stream.reader().getDefaultReadLimit() == ReadMaxFiles(2)
    assert Stream(tmp_path).reader().getDefaultReadLimit() == ReadAllAvailable()
    stream.collect(5)
    assert [stream.batch() for _ in range(4)] == [2, 2, 1, 0]


def test_stream_repeats_a_batch_with_the_same_rows(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    stream.collect(3)
    end = stream.reader().latestOffset({"c": 0}, ReadAllAvailable())
    stream.collect(2)
    compact(stream.store)
    assert sorted(stream.rows({"c": 0}, end)) == [0, 1, 2]
    assert stream.rows({"c": 1}, end) == [1, 2]


def test_stream_that_available_now_ends_where_it_began(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    stream.collect(2)
    reader = stream.reader()
    reader.prepareForTriggerAvailableNow()
    stream.collect(2)
    assert reader.latestOffset({"c": 0}, ReadAllAvailable()) == {"c": 2}
    assert reader.reportLatestOffset() == {"c": 4}


@pytest.mark.parametrize("name", ["nightly", None])
def test_stream_with_a_name_keeps_what_it_has_not_read(tmp_path: Path, name: str | None) -> None:
    stream = Stream(tmp_path, **({"streamName": name} if name else {}))
    stream.collect(2)
    stream.batch()
    stream.collect(3)
    compact(stream.store)
    stream.collect()
    compact(stream.store, grace=NOW)
    if name:
        assert stream.batch() == 4
        assert stream.read == list(range(6))
        stream.collect()
        compact(stream.store)
        assert compact(stream.store, grace=NOW) == 0
        assert not stream.store.entries([2])
        return
    with pytest.raises(HistoryError, match=r"entries 2 to 7 of c were merged, and deleted before "):
        stream.batch()


def test_stream_starts_at_an_entry(tmp_path: Path) -> None:
    for start, read in {"latest": [], "2": [2], '{"c": 1}': [1, 2], "earliest": [0, 1, 2]}.items():
        stream = Stream(tmp_path / start[0], startingEntry=start)
        stream.collect(3)
        stream.batch()
        assert stream.read == read
        stream.collect()
        stream.batch()
        assert stream.read == [*read, 3]


def test_stream_of_another_store_or_of_a_derived_table_is_an_error(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    with pytest.raises(HistoryError, match=r"the stream is at entry 7, but the next one of cluster c is 0: "):
        stream.reader().latestOffset({"c": 7}, ReadAllAvailable())
    with pytest.raises(UsageError, match=r"^kgroups-history: option table: lag is a derived table, "):
        Stream(tmp_path, table="lag", columns="lag").reader()
    with pytest.raises(UsageError, match=r"option startingEntry: 'd' is not in the stream; it has: c$"):
        Stream(tmp_path, startingEntry='{"d": 1}').reader().initialOffset()
