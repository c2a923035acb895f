"""Compaction of a store, on this machine and in an S3 server: rows, files, orphans, and failures at every step."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgroups.errors import HistoryError
from kgroups.history.arrow import to_batch
from kgroups.history.jobs import dump
from kgroups.history.load import store as store_module
from kgroups.history.load.manifest import BATCH, COMPACTED, DataFile, Entry
from kgroups.history.load.read import read_rows
from kgroups.history.load.storage import Storage
from kgroups.history.load.store import UNNAMED_FOR, Store
from kgroups.history.tables import COMMITS, HEADS, MATERIALIZED, RECORDS, STORED, Table
from kgroups.history.upkeep import rewrite
from kgroups.history.upkeep.automatic import MANY, Upkeep
from kgroups.history.upkeep.compact import choose_similar, compact
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.materialize import materialize
from tests.unit.history.conftest import IDENTITY

DAY = datetime(2026, 1, 1, tzinfo=UTC)
NEVER = timedelta(seconds=-5)
"""An age that every file has."""
Run = Callable[[Store], object]
STEPS: dict[str, Run] = {
    "compact": compact,
    "expire": lambda store: expire(store, DAY + timedelta(days=1)),
    "small step": lambda store: compact(store, small=True),
    "materialize": materialize,
}


def commits(*places: tuple[str, int], day: int = 0, time: bool = True) -> pa.RecordBatch:
    """Return commits of groups: name and log offset."""
    return to_batch(
        COMMITS,
        [
            {
                "log_partition": 0, "log_offset": at, "group": group, "topic": "t", "partition": 0, "tombstone": False,
                "committed_offset": at, "log_time": DAY + timedelta(days=day, seconds=at) if time else None,
            }
            for group, at in places
        ],
    )  # fmt: skip


def fill(store: Store, entries: int = 3) -> None:
    """Add entries with records and commits of two days."""
    for number in range(entries):
        first = 10 * number
        rows = [
            commits(("b", first), ("a", first + 1)),
            commits(("a", first + 2), day=1),
            commits(("x", 0), time=False),
        ]
        places = [
            {"log_partition": 0, "log_offset": at, "log_time": DAY, "key": b"k"} for at in range(first, first + 3)
        ]
        store.commit(Entry(BATCH, written(store, COMMITS, rows), records=3, positions={0: first + 3}))
        store.add(BATCH, {RECORDS: to_batch(RECORDS, places)})


def written(store: Store, table: Table, batches: Sequence[pa.RecordBatch]) -> tuple[DataFile, ...]:
    with store.writer() as writer:
        for batch in batches:
            writer.add(table, batch)
    return writer.files


def rows(store: Store) -> dict[str, Counter[str]]:
    """Return the rows of each table, in any order."""
    snapshot = Store(store.location, store.cluster).snapshot()
    return {
        table.name: Counter(
            str(row)
            for file in snapshot.files(table)
            for batch in read_rows(store.storage, table, file.path)
            for row in batch.to_pylist()
        )
        for table in STORED
    }


def groups(store: Store, file: DataFile) -> list[str]:
    found: list[str] = pq.read_table(store.storage.opened(file.path))["group"].to_pylist()
    return found


def test_compaction_keeps_every_row(any_store: Store) -> None:
    fill(any_store)
    before, positions = rows(any_store), any_store.snapshot().positions
    assert compact(any_store) == 6
    snapshot = any_store.snapshot()
    assert rows(any_store) == before
    assert (len(snapshot.entries), snapshot.positions, snapshot.records) == (1, positions, 9)
    folders = sorted(file.path.rpartition("/")[0] for file in snapshot.files(COMMITS))
    assert folders == ["commits/date=2026-01-01", "commits/date=2026-01-02", "commits/date=unknown"]
    assert all(groups(any_store, file) == sorted(groups(any_store, file)) for file in snapshot.files(COMMITS))
    assert compact(any_store) == 0
    assert len(any_store.storage.names("commits")) == 12  # for readers that began before
    any_store.delete_replaced(timedelta())
    assert len(any_store.storage.names("commits")) == 3
    assert rows(any_store) == before


def test_columns_of_later_versions_are_null(store: Store) -> None:
    fill(store, 2)
    for file in store.snapshot().files(COMMITS):
        path = Path(store.location, file.path)
        pq.write_table(pq.read_table(path).drop(["topic_id", "metadata"]), path)
    sized = [file._replace(size=store.storage.size(file.path)) for file in store.snapshot().files(COMMITS)]
    current = store.snapshot()
    store.commit(Entry(COMPACTED, tuple(sized), positions=current.positions, replaces=tuple(current.entries)))
    before = rows(store)
    compact(store)
    assert rows(store) == before


def test_store_with_special_characters_in_its_path(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "it's [a-c]*?"))
    store.create(IDENTITY)
    fill(store)
    before = rows(store)
    assert compact(store) == 6
    assert rows(store) == before


def test_files_are_bounded_and_have_whole_groups(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite, "FILE_ROWS", 10)
    monkeypatch.setattr(rewrite, "BATCH_ROWS", 3)
    sizes = {"a": 4, "b": 5, "c": 3, "d": 25, "e": 2}
    for at in range(25):
        names = [name for name, size in sizes.items() if at < size]
        store.add(BATCH, {COMMITS: commits(*((name, 100 * place + at) for place, name in enumerate(names)))})
    before = rows(store)
    compact(store)
    assert rows(store) == before
    files = [Counter(groups(store, file)) for file in store.snapshot().files(COMMITS)]
    assert files == [{"a": 4, "b": 5}, {"c": 3}, {"d": 10}, {"d": 10}, {"d": 5, "e": 2}]


@pytest.mark.parametrize(
    ("sizes", "is_over", "chosen"),
    [
        ([5], True, []),
        ([1, 1, 1], False, [1, 1, 1]),
        ([1, 1, 100], False, [1, 1]),
        ([1, 1, 30], True, [1, 1, 30]),
        ([1, 1, 100], True, [1, 1]),
        ([2, 1], False, []),
        ([1, 100, 100], False, [1, 100, 100]),
        ([1, 4_000_000, 4_000_000], True, []),
    ],
)
def test_files_of_similar_size_are_merged(sizes: list[int], is_over: bool, chosen: list[int]) -> None:
    files = [DataFile("commits", str(size), size, 0) for size in sizes]
    assert [file.rows for file in choose_similar(files, is_over)] == chosen


def test_small_steps_bound_files_and_writes(store: Store) -> None:
    """Each row is written again log(n) times at most, and a reader opens log(n) files, and those not merged yet."""
    rewritten, entries = 0, 8
    for number in range(entries * MANY):
        store.commit(Entry(BATCH, written(store, COMMITS, [commits(("g", number), day=40_000)])))
        if (number + 1) % MANY == 0:
            known = {file.path for file in store.snapshot().files(COMMITS)}
            compact(store, small=True, grace=timedelta())
            rewritten += sum(file.rows for file in store.snapshot().files(COMMITS) if file.path not in known)
    assert len(store.snapshot().entries) == 1
    assert len(store.snapshot().files(COMMITS)) <= 3
    assert rewritten <= 4 * entries * MANY
    assert sum(file.rows for file in store.snapshot().files(COMMITS)) == entries * MANY


def test_files_that_a_merge_takes_over_remain(any_store: Store) -> None:
    any_store.add(BATCH, {COMMITS: commits(*(("g", at) for at in range(50)))})
    any_store.add(BATCH, {HEADS: to_batch(HEADS, [{"sampled_at": DAY, "topic": "t", "partition": 0}])})
    before, file = rows(any_store), any_store.snapshot().files(COMMITS)
    assert compact(any_store, small=True) == 2
    assert any_store.snapshot().files(COMMITS) == file
    any_store.delete_replaced(timedelta())
    assert rows(any_store) == before
    any_store.add(BATCH, {COMMITS: commits(("g", 51))})
    compact(any_store)
    assert file[0].path in any_store.storage.names("commits")  # of the first merge, which readers may have


def test_only_old_files_without_an_entry_are_orphans(any_store: Store) -> None:
    fill(any_store, 2)
    compact(any_store)
    other = Store(any_store.location)
    other.create(IDENTITY._replace(cluster_id="other"))
    fill(other, 1)
    (orphan,) = written(any_store, COMMITS, [commits(("g", 1))])
    before = rows(any_store), rows(other), any_store.storage.names("commits").keys()
    assert any_store.delete_orphans() == 0  # a collection under way
    assert any_store.delete_orphans(NEVER) == 1
    assert (rows(any_store), rows(other)) == before[:2]
    assert any_store.storage.names("commits").keys() == before[2] - {orphan.path}


def test_orphans_are_deleted_at_most_once_a_day_by_any_process(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, 1)
    for _ in range(2):
        written(store, COMMITS, [commits(("g", 1))])
    for path in (store.storage.folder or Path()).glob("commits/date=*/*.parquet"):
        os.utime(path, (0, 0))
    before = rows(store)
    assert [Store(store.location).delete_orphans_daily() for _ in range(2)] == [2, 0]
    written(store, COMMITS, [commits(("g", 1))])
    assert store.delete_orphans_daily() == 0
    store.replace_json("orphans", {"swept_at": "2026-01-01T00:00:00+00:00"})
    assert store.delete_orphans_daily() == 0  # it may belong to a collection under way
    assert rows(store) == before


def test_step_that_took_too_long_is_not_committed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files may be deleted as those of a process that was killed."""
    fill(store, 2)
    before, now = store.snapshot(), [0.0]

    def later() -> float:
        now[0] += UNNAMED_FOR.total_seconds() + 1
        return now[0]

    monkeypatch.setattr(rewrite, "elapsed", later)
    monkeypatch.setattr(store_module, "elapsed", later)
    with pytest.raises(HistoryError, match="took longer than 12:00:00; nothing was changed"):
        compact(store)
    assert store.snapshot() == before


def test_rows_that_waited_too_long_for_their_entry_are_written_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples and sweeps: a machine that sleeps between the file and its entry, while another one deletes old files."""
    fill(store, 1)
    now, commit = [0.0], Store.commit
    monkeypatch.setattr(store_module, "elapsed", lambda: now[0])
    slept: list[Entry] = []

    def sleep_first(self: Store, entry: Entry, *args: Any, **kwargs: Any) -> Entry:
        if not slept:
            slept.append(entry)
            now[0] += UNNAMED_FOR.total_seconds() + 1
            self.storage.delete([file.path for file in entry.files])
        return commit(self, entry, *args, **kwargs)

    monkeypatch.setattr(Store, "commit", sleep_first)
    added = store.add(BATCH, {COMMITS: commits(("late", 77))})
    assert slept and added.files != slept[0].files
    store.check_files(added.files)


def test_old_checkpoints_are_deleted(store: Store) -> None:
    for number in range(65):
        store.commit(Entry(BATCH, (), positions={0: number}))
    store.delete_orphans(NEVER)
    assert store.names("checkpoint-") == ["checkpoint-00000059"]
    assert Store(store.location).snapshot() == store.snapshot()


def test_entry_that_is_added_during_a_cleanup_remains(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, 1)
    real = Storage.names

    def names(storage: Storage, prefix: str) -> dict[str, int]:
        found = real(storage, prefix)
        monkeypatch.setattr(Storage, "names", real)
        Store(store.location).add(BATCH, {COMMITS: commits(("late", 99))})
        return found

    monkeypatch.setattr(Storage, "names", names)
    assert store.delete_replaced(NEVER) == 0
    assert "late" in str(rows(store))


# Failures.


def test_file_that_cannot_be_written_leaves_no_part(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    with (
        pytest.raises(HistoryError, match=f"store {tmp_path}: t/a.parquet: No space left on device"),
        storage.writing("t/a.parquet") as file,
    ):
        file.write(b"PAR1")
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize("is_new", [True, False])
def test_dump_on_a_full_disk_names_the_file_and_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    def batches(*_: object) -> Iterator[pa.RecordBatch]:
        yield commits(("a", 1))
        raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    folder = tmp_path / "dump"
    if not is_new:
        folder.mkdir()
    monkeypatch.setattr(dump, "_batches", batches)
    monkeypatch.setattr(dump, "_ranges", lambda request: ())
    monkeypatch.setattr(dump, "pack", lambda ranges, parts: [[]])
    request = dump.Dump(None, COMMITS)  # type: ignore[arg-type]
    with pytest.raises(HistoryError, match=f"^cannot write {folder}/part-00000.parquet: No space left on device$"):
        dump.dump_parquet(request, folder, 1)
    assert folder.exists() is not is_new and not list(tmp_path.rglob("*part*"))
    monkeypatch.setattr(dump, "_batches", lambda *_: iter([commits(("a", 1))]))
    assert dump.dump_parquet(request, folder, 1) == 1 and [file.name for file in folder.iterdir()] == [
        "part-00000.parquet"
    ]


class Killed(BaseException):
    """Ends the process: nothing is cleaned up."""


WRITES = ("create", "replace", "writing", "delete")
CALLS = (*WRITES, "read", "names", "size", "names_before")


def break_at(patch: pytest.MonkeyPatch, step: int, names: Sequence[str], error: Callable[[], BaseException]) -> None:
    """Let a call to the storage fail, and all later ones."""
    left = iter(range(step))

    def wrapped(real: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            if next(left, None) is None:
                raise error()
            return real(*arguments, **options)

        return call

    for name in names:
        patch.setattr(Storage, name, wrapped(getattr(Storage, name)))


def full() -> HistoryError:
    return HistoryError(f"store X: {os.strerror(errno.ENOSPC)}")


@pytest.mark.parametrize("fault", ["kill", "full disk"])
@pytest.mark.parametrize(("kind", "name"), [*(("store", name) for name in STEPS), ("s3_store", "compact")])
def test_failure_at_any_step_loses_nothing(request: pytest.FixtureRequest, kind: str, fault: str, name: str) -> None:
    any_store: Store = request.getfixturevalue(kind)
    fill(any_store, 2)
    run = STEPS[name]
    names, error = (CALLS, Killed) if fault == "kill" else (WRITES, full)
    before = rows(any_store)
    for step in range(200):
        with pytest.MonkeyPatch.context() as patch:
            break_at(patch, step, names, error)
            try:
                run(Store(any_store.location))
                break
            except (Killed, HistoryError) as failure:
                assert isinstance(failure, Killed) or "\n" not in str(failure)
        if name != "expire":
            assert rows(any_store) == before
    else:
        pytest.fail("no run succeeded")
    assert step >= 3
    run(Store(any_store.location))
    assert len(any_store.snapshot().collected().entries) <= (4 if name == "materialize" else 2)
    assert (name == "materialize") == (any_store.snapshot().materialized is not None)
    if name != "expire":
        assert rows(any_store) == before
    any_store.delete_replaced(NEVER)
    any_store.delete_orphans(NEVER)
    named = {file.path for entry in any_store.snapshot().entries.values() for file in entry.files}
    assert {path for table in (*STORED, *MATERIALIZED) for path in any_store.storage.names(table.name)} == named


def test_vanished_store_is_an_error(store: Store) -> None:
    fill(store)
    Path(store.location).rename(f"{store.location}.moved")
    for run in STEPS.values():
        with pytest.raises(HistoryError, match="holds no history"):
            run(Store(store.location, IDENTITY.cluster_id))
    assert not Path(store.location).exists()


_LIMITED = """
import resource, signal, sys
from kgroups.errors import HistoryError
from kgroups.history.load.store import UNNAMED_FOR, Store
from kgroups.history.upkeep.compact import compact
store = Store(sys.argv[1])
store.snapshot()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    print(compact(store))
except HistoryError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [100, 1000, 3000])
def test_file_that_cannot_grow_is_one_line(store: Store, limit: int) -> None:
    """The kernel rejects the write, as it does if the disk is full."""
    fill(store)
    before, files = rows(store), set(Path(store.location).rglob("*.*"))
    code = [sys.executable, "-c", _LIMITED, store.location, str(limit)]
    (line,) = subprocess.run(code, capture_output=True, text=True, check=True).stdout.splitlines()
    assert f"store {store.location}: " in line and ("File too large" in line or "not enough" in line)
    assert rows(store) == before
    assert set(Path(store.location).rglob("*.parquet")) <= files
    assert compact(store) == 6
    assert rows(store) == before


# During collection.


def test_many_entries_are_merged_after_a_collection(store: Store) -> None:
    lines: list[str] = []
    for number in range(MANY):
        store.add(BATCH, {COMMITS: commits(("g", number))})
        with Upkeep(store, lines.append, once=True):
            pass
        assert len(store.snapshot().collected().entries) == (1 if number + 1 == MANY else number + 1)
    assert not lines


def test_entries_are_merged_while_a_collection_continues(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgroups.history.upkeep.automatic.CHECK_EVERY", 0.01)
    fill(store, MANY)
    before = rows(store)
    merged = threading.Event()
    real = Upkeep.step

    def step(upkeep: Upkeep) -> bool:
        done = real(upkeep)
        merged.set()
        return done

    monkeypatch.setattr(Upkeep, "step", step)
    with Upkeep(store, pytest.fail):
        assert merged.wait(60)
    assert len(store.snapshot().entries) == 1
    assert rows(store) == before


def test_failed_step_is_one_line(store: Store) -> None:
    lines: list[str] = []
    fill(store, MANY)
    before = rows(store)
    with pytest.MonkeyPatch.context() as patch:
        break_at(patch, 0, WRITES, full)
        with Upkeep(store, lines.append, once=True):
            pass
    assert lines == ["maintenance of the store failed, and collection continues: store X: No space left on device"]
    assert rows(store) == before


def test_old_rows_are_deleted_once_a_day(store: Store) -> None:
    now = datetime.now(UTC)
    for at, age in enumerate((9, 3)):
        (row,) = commits(("g", at)).to_pylist()
        store.add(BATCH, {COMMITS: to_batch(COMMITS, [row | {"log_time": now - timedelta(days=age)}])})
    upkeep = Upkeep(store, pytest.fail, retention=timedelta(days=2), once=True)
    assert upkeep.step()
    expired = store.snapshot().expired
    assert expired == pytest.approx((now - timedelta(days=2)).timestamp() * 1_000_000, abs=60_000_000)
    assert sum(rows(store)[COMMITS.name].values()) == 1  # the last commit
    assert upkeep.step() and store.snapshot().expired == expired
