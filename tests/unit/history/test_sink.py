"""Writing by Spark's commit protocol, without Spark: whatever fails or races, each record is stored once."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.datasource import WriterCommitMessage
from pyspark.sql.types import StructType

from kgroups.errors import HistoryError, UsageError
from kgroups.history.arrow import to_batch
from kgroups.history.extract.ranges import Ends
from kgroups.history.load.owner import LEASE
from kgroups.history.load.read import read_rows
from kgroups.history.load.sink import RANGES, HistoryStreamWriter, HistoryWriter, plan_write
from kgroups.history.load.storage import Storage
from kgroups.history.load.store import UNNAMED_FOR, Store
from kgroups.history.schema import struct_type
from kgroups.history.stored.source import StoredSource
from kgroups.history.tables import COMMITS, COVERAGE, RECORDS, UNDECODED, Table
from tests.fakes.offset_records import commit_key, commit_value
from tests.unit.history.conftest import IDENTITY

SOURCE = "kgroups-history"
Place = tuple[int, int]
Message = WriterCommitMessage | None

SCHEMA = struct_type(RECORDS)
OF_RANGES = struct_type(Table("ranges", "", RANGES))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "history")


def new_store(folder: Path) -> Store:
    found = Store(str(folder))
    found.create(IDENTITY)
    return found


def rows(places: Sequence[Place], day: int = 0) -> pa.RecordBatch:
    """Records at these places: commits, and every third one not decodable."""
    key, value = commit_key(), commit_value()
    return to_batch(
        RECORDS,
        [
            {
                "log_partition": partition,
                "log_offset": offset,
                "log_time": day * 86_400_000_000 + offset,
                "key": b"?" if offset % 3 == 2 else key,
                "value": value,
            }
            for partition, offset in places
        ],
    )


def writer(store: Store) -> HistoryWriter:
    return HistoryWriter(plan_write(SOURCE, Store(store.location), SCHEMA, False))


def run(writer: HistoryWriter | HistoryStreamWriter, *batches: pa.RecordBatch) -> WriterCommitMessage:
    """Run a task as Spark does: in a process that gets the writer in pickled form, and returns a message."""
    there: HistoryWriter = pickle.loads(pickle.dumps(writer))
    found: WriterCommitMessage = pickle.loads(pickle.dumps(there.write(iter(batches))))
    return found


def stored(store: Store, table: Table = RECORDS) -> list[Place]:
    now = Store(store.location)
    batches = [batch for file in now.snapshot().files(table) for batch in read_rows(now.storage, table, file.path)]
    places = [(row["log_partition"], row["log_offset"]) for batch in batches for row in batch.to_pylist()]
    return sorted(places)


def coverage(store: Store) -> list[dict[str, object]]:
    now = Store(store.location)
    files = now.snapshot().files(COVERAGE)
    return [row for file in files for batch in read_rows(now.storage, COVERAGE, file.path) for row in batch.to_pylist()]


def files_there(store: Store) -> set[str]:
    return {str(path.relative_to(store.location)) for path in Path(store.location).rglob("*.parquet")}


def named(store: Store) -> set[str]:
    return {file.path for entry in Store(store.location).snapshot().entries.values() for file in entry.files}


def test_commit_makes_one_entry_with_records_rows_and_ranges(store: Store) -> None:
    used = writer(store)
    parts: list[Message] = [run(used, rows([(0, 0), (0, 1), (1, 5)]), rows([(0, 2)])), run(used, rows([(0, 4)]))]
    assert stored(store) == []
    used.commit(parts)
    (entry,) = Store(store.location).snapshot().entries.values()
    assert (entry.kind, entry.records, entry.positions) == ("batch", 5, {0: 5, 1: 6})
    assert stored(store) == [(0, 0), (0, 1), (0, 2), (0, 4), (1, 5)]
    assert stored(store, COMMITS) == [(0, 0), (0, 1), (0, 4)] and stored(store, UNDECODED) == [(0, 2), (1, 5)]
    found = [(row["log_partition"], row["from_offset"], row["to_offset"], row["records"]) for row in coverage(store)]
    assert found == [(0, 0, 5, 4), (1, 5, 6, 1)]
    assert {row["compacted"] for row in coverage(store)} == {None}, "no broker was asked"


def test_records_that_the_store_has_are_omitted(store: Store) -> None:
    first = writer(store)
    first.commit([run(first, rows([(0, 0), (0, 1)]))])
    again = writer(store)
    again.commit([run(again, rows([(0, 0), (0, 1)]))])
    assert len(Store(store.location).snapshot().entries) == 1
    more = writer(store)
    more.commit([run(more, rows([(0, 1), (0, 2)])), run(more, rows([(2, 7)]))])
    assert stored(store) == [(0, 0), (0, 1), (0, 2), (2, 7)]
    assert files_there(store) == named(store)


def test_commit_of_no_rows_adds_no_entry(store: Store) -> None:
    used = writer(store)
    used.commit([run(used), run(used, rows([]))])
    used.commit([])
    assert not Store(store.location).snapshot().entries and not files_there(store)


def test_second_of_two_racing_writers_is_refused_and_leaves_no_files(store: Store) -> None:
    one, two = writer(store), writer(store)
    parts = [run(each, rows([(0, 0), (0, 1)])) for each in (one, two)]
    one.commit([parts[0]])
    with pytest.raises(HistoryError, match="another writer added records of log partition 0"):
        two.commit([parts[1]])
    two.abort([parts[1]])  # as Spark does after a commit that failed
    assert stored(store) == [(0, 0), (0, 1)]
    assert files_there(store) == named(store)


def test_writers_of_different_partitions_do_not_race(store: Store) -> None:
    one, two = writer(store), writer(store)
    parts = [run(one, rows([(0, 0)])), run(two, rows([(1, 0)]))]
    one.commit([parts[0]])
    two.commit([parts[1]])
    assert stored(store) == [(0, 0), (1, 0)]


def test_abort_deletes_the_files_of_tasks_that_succeeded(store: Store) -> None:
    used = writer(store)
    used.abort([run(used, rows([(0, 0)])), None])
    assert not files_there(store)


def test_abort_after_commit_of_lost_response_keeps_the_files(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark aborts also if a commit fails; the entry may have been created."""
    used = writer(store)
    part = run(used, rows([(0, 0)]))
    create = Storage.create

    def lose(storage: Storage, name: str, data: bytes) -> bool:
        create(storage, name, data)
        raise HistoryError("no response")

    monkeypatch.setattr(Storage, "create", lose)
    with pytest.raises(HistoryError, match="no response"):
        used.commit([part])
    used.abort([part])
    assert stored(store) == [(0, 0)] and named(store) <= files_there(store)


def test_commit_that_finds_its_own_entry_succeeds(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client repeats a request without response by itself, and is told that the file exists."""
    used = writer(store)
    part = run(used, rows([(0, 0)]))
    create, repeated = Storage.create, iter((True,))

    def repeat(storage: Storage, name: str, data: bytes) -> bool:
        created = create(storage, name, data)
        return not next(repeated, False) and created

    monkeypatch.setattr(Storage, "create", repeat)
    used.commit([part])
    assert stored(store) == [(0, 0)] and named(store) == files_there(store)


def test_commit_of_old_files_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    used = writer(store)
    with monkeypatch.context() as patch:
        earlier = time.time() - UNNAMED_FOR.total_seconds() - LEASE.total_seconds()
        patch.setattr("kgroups.history.load.sink.time.time", lambda: earlier)
        part = run(used, rows([(0, 0)]))
    with pytest.raises(HistoryError, match="this took longer than 12:00:00"):
        used.commit([part])
    assert stored(store) == []


def test_rows_out_of_order_or_repeated_are_refused(store: Store) -> None:
    used = writer(store)
    for places in ([(0, 1), (0, 0)], [(0, 1), (0, 1)]):
        with pytest.raises(HistoryError, match="log partition 0 are not in the order of their offsets, or repeated"):
            run(used, rows(places))
    with pytest.raises(HistoryError, match="log partition 0 are not in the order"):
        run(used, rows([(0, 4)]), rows([(0, 3)]))
    with pytest.raises(HistoryError, match="log partition 0 are not in the order"):
        used.commit([run(used, rows([(0, 0), (0, 2)])), run(used, rows([(0, 1), (0, 3)]))])
    assert not files_there(store)


def test_task_that_fails_leaves_no_file(store: Store) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield rows([(0, 0)])
        raise OSError("executor lost")

    with pytest.raises(OSError, match="executor lost"):
        writer(store).write(batches())
    assert not files_there(store)


def test_repeated_micro_batch_adds_nothing(store: Store) -> None:
    for places in ([(0, 0), (1, 0)], [(0, 0), (1, 0)], [(0, 1)]):
        used = HistoryStreamWriter(plan_write(SOURCE, Store(store.location), SCHEMA, False))
        message: list[Message] = [run(used, rows(places))]
        # Spark makes another writer for the commit.
        HistoryStreamWriter(plan_write(SOURCE, Store(store.location), SCHEMA, False)).commit(message, 0)
    assert stored(store) == [(0, 0), (0, 1), (1, 0)]
    assert len(Store(store.location).snapshot().entries) == 2


@pytest.mark.parametrize(
    ("schema", "overwrite", "message"),
    [
        (SCHEMA, True, "mode overwrite would delete the history of the store; use mode append"),
        (struct_type(COMMITS), False, r"these columns cannot be written: .*; write log_partition int, .*table=records"),
        (struct_type(RECORDS, ("log_offset", "key", "value")), False, "these columns cannot be written"),
        (OF_RANGES, False, "rows are ranges of offsets, and option bootstrap.servers is not set"),
    ],
)
def test_plan_rejects(store: Store, schema: StructType, overwrite: bool, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_write(SOURCE, store, schema, overwrite)


def test_plan_without_store_names_the_fix(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="holds no history"):
        plan_write(SOURCE, Store(str(tmp_path)), SCHEMA, False)


def test_ranges_outside_the_log_are_refused(store: Store) -> None:
    job = plan_write(SOURCE, store, SCHEMA, False)._replace(are_ranges=True, ends={0: Ends(0, 10, 12)})
    for row, message in (
        ((0, 0, 11), "range 0 to 11 of log partition 0 cannot be read: its last stable offset is 10"),
        ((1, 0, 1), "range 0 to 1 of log partition 1 cannot be read: it does not exist"),
        ((0, 3, 2), "range 3 to 2 of log partition 0 cannot be read"),
    ):
        batch = pa.RecordBatch.from_pylist([dict(zip((column.name for column in RANGES), row, strict=True))])
        with pytest.raises(HistoryError, match=message):
            HistoryWriter(job).write(iter([batch]))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("commit", "abort", "killed", "raced")),
        st.integers(0, 3),  # offsets that the store has
        st.lists(st.tuples(st.integers(0, 1), st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=6,
)


@given(STEPS)
@settings(max_examples=25 if "KGROUPS_HYPOTHESIS" not in os.environ else 300, deadline=None)
def test_any_attempts_aborts_kills_and_races_store_each_record_once(
    steps: list[tuple[str, int, list[tuple[int, int, int]]]],
) -> None:
    """A task reads some offsets of a partition after the one before it; each has several attempts, one is named."""
    with TemporaryDirectory() as folder:
        store = new_store(Path(folder, "history"))
        expected: set[Place] = set()
        for how, repeated, tasks in steps:
            used = writer(store)
            rival = writer(store) if how == "raced" else None
            ends = dict(Store(store.location).snapshot().positions)
            parts: list[Message] = []
            places: list[Place] = []
            for number, (partition, size, attempts) in enumerate(tasks):
                start = ends.get(partition, 0)
                ends[partition] = start + size
                first = max(0, start - (repeated if number == 0 else 0))
                share = [(partition, offset) for offset in range(first, start + size)]
                parts.append([run(used, rows(share)) for _ in range(attempts)][-1])
                places += share
            if rival:
                rival.commit([run(rival, rows(sorted(places)))] if len(set(places)) == len(places) else [])
            if how == "commit":
                used.commit(parts)
                expected |= set(places)
            elif how == "abort":
                used.abort([*parts[:-1], None])
            elif rival and Store(store.location).snapshot().positions != dict(used._job.positions):
                with pytest.raises(HistoryError, match="another writer"):
                    used.commit(parts)
                expected |= set(places)
            assert stored(store) == sorted(expected)
            assert named(store) <= files_there(store)
        Store(store.location).delete_orphans(timedelta(0))
        assert files_there(store) == named(store)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"cluster": "a", "bootstrap.servers": "b:1"},
            "option cluster: 'a' and bootstrap.servers are mutually",
        ),
        ({"timeout": "5"}, "option timeout: '5' has no effect without bootstrap.servers"),
        ({"table": "commits"}, "option table is unknown"),
    ],
)
def test_options_of_writes_are_checked(store: Store, given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        StoredSource({"path": store.location} | given).writer(SCHEMA, False)


def test_options_of_writes_select_a_cluster(store: Store) -> None:
    store.create(IDENTITY._replace(cluster_id="cluster-2"))
    with pytest.raises(HistoryError, match="holds the history of 2 clusters"):
        StoredSource({"path": store.location}).writer(SCHEMA, False)
    used = StoredSource({"path": store.location, "cluster": "cluster-2", "checkpointLocation": "x"}).writer(
        SCHEMA, False
    )
    used.commit([run(used, rows([(0, 0)]))])
    assert [len(Store(store.location, each).snapshot().entries) for each in ("cluster-1", "cluster-2")] == [0, 1]
