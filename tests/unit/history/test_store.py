"""The store's layout and manifest, on this machine and in an S3 server, without Spark."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgroups.errors import HistoryError
from kgroups.files.location import full_reason, redact_location
from kgroups.files.object_files import Found
from kgroups.history.arrow import arrow_schema
from kgroups.history.load.manifest import (
    BATCH,
    COMPACTED,
    HEADS_SAMPLED,
    UPGRADED,
    Entry,
    Snapshot,
    from_json,
    to_json,
)
from kgroups.history.load.storage import Storage
from kgroups.history.load.store import CHECKPOINT_EVERY, Store
from kgroups.history.tables import HEADS
from tests.unit.history.conftest import IDENTITY


def heads(*ends: int) -> pa.RecordBatch:
    rows = [
        {"sampled_at": datetime(2026, 1, 1, tzinfo=UTC), "topic": "t", "partition": at, "log_start": 0, "log_end": end}
        for at, end in enumerate(ends)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(HEADS))


def ends_in(store: Store) -> list[int]:
    files = store.snapshot().files(HEADS)
    return sorted(
        end for file in files for end in pq.read_table(store.storage.opened(file.path))["log_end"].to_pylist()
    )


def merge(store: Store, *numbers: int) -> Entry:
    current = store.snapshot().entries
    ends = [
        end
        for number in numbers
        for file in current[number].files
        for end in pq.read_table(store.storage.opened(file.path))["log_end"].to_pylist()
    ]
    with store.writer() as writer:
        writer.add(HEADS, heads(*ends))
    return store.commit(Entry(COMPACTED, writer.files, positions=store.snapshot().positions, replaces=numbers))


def test_added_rows_are_read_with_cluster_and_statistics(any_store: Store) -> None:
    entry = any_store.add(HEADS_SAMPLED, {HEADS: heads(5, 6)})
    assert ends_in(Store(any_store.location)) == [5, 6]
    (file,) = entry.files
    moment = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1_000_000)
    assert (entry.number, file.rows, file.first, file.last) == (0, 2, moment, moment)
    assert file.path.startswith("heads/date=2026-01-01/")
    table = pq.read_table(any_store.storage.opened(file.path))
    assert table["cluster_id"].to_pylist() == ["cluster-1"] * 2
    assert table.schema.field("sampled_at").type == pa.timestamp("us", tz="UTC")


def test_files_without_an_entry_are_not_read(any_store: Store) -> None:
    with any_store.writer() as writer:
        writer.add(HEADS, heads(5))
    assert writer.files and ends_in(any_store) == []
    any_store.commit(Entry(HEADS_SAMPLED, writer.files))
    assert ends_in(any_store) == [5]


def test_concurrent_commits_are_all_kept(any_store: Store) -> None:
    def add(end: int) -> int:
        return Store(any_store.location).add(HEADS_SAMPLED, {HEADS: heads(end)}).number

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(add, range(8)))
    assert sorted(numbers) == list(range(8))
    assert ends_in(any_store) == list(range(8))


def test_entry_that_is_no_longer_valid_is_not_committed(any_store: Store) -> None:
    positions = any_store.snapshot().positions
    Store(any_store.location).commit(Entry(BATCH, (), positions={0: 7, 1: 2}))

    def check(snapshot: Snapshot) -> None:
        if snapshot.positions != positions:
            raise HistoryError("somebody else was faster")

    with pytest.raises(HistoryError, match="faster"):
        any_store.commit(Entry(BATCH, (), positions={0: 7, 1: 2}), check)
    assert len(any_store.snapshot().entries) == 1
    assert any_store.snapshot().positions == {0: 7, 1: 2}


def test_replaced_entries_are_hidden_and_deleted_after_grace(any_store: Store) -> None:
    for end in (1, 2, 3):
        any_store.add(HEADS_SAMPLED, {HEADS: heads(end)})
    before = {file.path for file in any_store.snapshot().files(HEADS)}
    merge(any_store, 0, 1)
    assert ends_in(any_store) == [1, 2, 3]
    assert any_store.delete_replaced() == 0
    assert before <= any_store.storage.names("heads").keys()
    assert any_store.delete_replaced(timedelta()) == 2
    assert len(any_store.storage.names("heads")) == 2
    assert any_store.delete_replaced(timedelta()) == 0
    again = Store(any_store.location)
    assert ends_in(again) == [1, 2, 3]
    assert again.add(HEADS_SAMPLED, {HEADS: heads(4)}).number == 4


def test_time_of_the_last_expiry_is_known(store: Store) -> None:
    store.commit(Entry(BATCH, ()))
    snapshot = store.snapshot()
    assert (snapshot.expired, snapshot.expired_with(None)) == (0, 0)
    earlier, later = (datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2))
    store.commit(Entry(COMPACTED, (), replaces=(0,), expired=snapshot.expired_with(later)))
    expired = Store(store.location).snapshot()
    assert expired.expired == expired.expired_with(earlier) == later.timestamp() * 1_000_000


@pytest.mark.parametrize(("kind", "expired"), [(BATCH, 0), (COMPACTED, None), (UPGRADED, None)])
def test_expiry_of_entries_of_earlier_versions(kind: str, expired: int | None) -> None:
    written = Entry(kind, (), number=0, committed_at="2026-01-01T00:00:00+00:00")
    data = {name: value for name, value in to_json(written).items() if name != "expired"}
    entry = from_json(data)
    assert entry.expired == expired
    snapshot = Snapshot({0: entry, 1: Entry(BATCH, ())}, 2)
    assert snapshot.expired == snapshot.expired_with(None) == expired


@pytest.mark.parametrize("beside", [[[0, 9]], [[3, 1]], [[0]], [[0, 1.0]], [0, 1], {}, "x", [[0, 10**40]]])
def test_entry_with_invalid_numbers_of_others_is_an_error(beside: object) -> None:
    data = to_json(Entry(BATCH, (), number=9, committed_at="2026-01-01T00:00:00+00:00", beside=((0, 3), (5, 8))))
    assert from_json(data).beside == ((0, 3), (5, 8))
    with pytest.raises(ValueError, match="beside is invalid"):
        from_json(data | {"beside": beside})


def test_gap_in_the_manifest_of_an_earlier_version_is_found(store: Store) -> None:
    for end in range(4):
        store.add(HEADS_SAMPLED, {HEADS: heads(end)})
    for name in store.names("0"):
        store.replace_json(
            name, {key: value for key, value in (store.read_json(name) or {}).items() if key != "beside"}
        )
    assert ends_in(Store(store.location)) == [0, 1, 2, 3]
    store.delete_json(["00000001"])
    with pytest.raises(HistoryError, match="entry 1 is missing"):
        Store(store.location).snapshot()


def test_many_entries_are_read_from_a_checkpoint(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(2 * CHECKPOINT_EVERY + 3):
        store.commit(Entry(BATCH, (), records=1, positions={0: number + 1}))
    merge(store, 0, 1)
    again = Store(store.location)
    opened: list[str] = []
    real = again.storage.read

    def read(name: str) -> bytes | None:
        opened.append(name)
        return real(name)

    monkeypatch.setattr(again.storage, "read", read)
    snapshot = again.snapshot()
    assert snapshot == store.snapshot()
    assert len([name for name in opened if name.rpartition("/")[2][0] in "0c"]) <= 5
    assert (snapshot.positions, snapshot.records) == ({0: 2 * CHECKPOINT_EVERY + 3}, 2 * CHECKPOINT_EVERY + 1)


def test_store_can_be_reopened(any_store: Store) -> None:
    again = Store(any_store.location)
    assert again.create(IDENTITY._replace(created="later")) == IDENTITY
    assert again.identity() == IDENTITY


def test_store_keeps_several_clusters_apart(any_store: Store) -> None:
    any_store.add(HEADS_SAMPLED, {HEADS: heads(1)})
    other = Store(any_store.location)
    other.create(IDENTITY._replace(cluster_id="a/b c"))
    other.add(HEADS_SAMPLED, {HEADS: heads(2)})
    assert (ends_in(any_store), ends_in(other)) == ([1], [2])
    assert Store(any_store.location).clusters() == ["a/b c", "cluster-1"]
    assert ends_in(Store(any_store.location, "a/b c")) == [2]
    with pytest.raises(HistoryError, match=r"2 clusters: a/b c, cluster-1; select one with --cluster"):
        Store(any_store.location).snapshot()
    with pytest.raises(HistoryError, match="no history of cluster c"):
        Store(any_store.location, "c").snapshot()


def test_query_lists_the_entries_once(any_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    any_store.add(HEADS_SAMPLED, {HEADS: heads(1)})
    lists: list[str] = []
    listed = Storage._listed

    def spy(storage: Storage, prefix: str) -> list[Found]:
        lists.append(prefix)
        return listed(storage, prefix)

    monkeypatch.setattr(Storage, "_listed", spy)
    (found,) = Store.of_clusters(any_store.location, None, all_clusters=False)
    assert (ends_in(found), len(lists)) == ([1], 1)


@pytest.mark.parametrize(("change", "word"), [({"topic": "copy"}, "copy"), ({"topic_id": "topic-2"}, "recreated")])
def test_store_of_another_topic_is_rejected(store: Store, change: dict[str, str], word: str) -> None:
    with pytest.raises(HistoryError, match=word):
        store.create(IDENTITY._replace(**change))


def test_store_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(HistoryError, match="holds no history"):
            Store(str(folder)).snapshot()


def test_store_that_vanished_is_an_error(store: Store) -> None:
    store.snapshot()
    Path(store.location).rename(f"{store.location}.moved")
    with pytest.raises(HistoryError, match="does not exist"):
        store.add(HEADS_SAMPLED, {HEADS: heads(1)})
    with pytest.raises(HistoryError, match="holds no history"):
        store.commit(Entry(BATCH, ()))
    assert not Path(store.location).exists()


def rewrite(store: Store, name: str, text: str) -> None:
    Path(store.location, name).write_text(text)


def test_store_of_another_schema_is_an_error(store: Store) -> None:
    rewrite(store, "_kgroups.json", json.dumps({"format": 2, "schema": 99}))
    with pytest.raises(HistoryError, match="schema 99"):
        store.identity()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1}'])
def test_store_with_damaged_identity_is_an_error(store: Store, text: str) -> None:
    rewrite(store, "_kgroups.json", text)
    with pytest.raises(HistoryError, match=r"_kgroups\.json is damaged"):
        Store(store.location).identity()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"kind": "x"}', '{"kind": "x", "files": [1]}'])
def test_store_with_damaged_entry_is_an_error(store: Store, text: str) -> None:
    store.add(HEADS_SAMPLED, {HEADS: heads(1)})
    rewrite(store, "_manifest/cluster-1/00000000.json", text)
    with pytest.raises(HistoryError, match=r"00000000\.json is damaged"):
        Store(store.location).snapshot()


def test_store_that_another_creates_at_the_same_time_is_not_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = Store(str(tmp_path / "history")), Store(str(tmp_path / "history"))

    def names_after_the_other(directory: str) -> list[str]:
        monkeypatch.undo()
        other.create(IDENTITY._replace(cluster_id="other"))
        return store.storage.names(directory)

    monkeypatch.setattr(store.storage, "names", names_after_the_other)
    store.create(IDENTITY)
    assert store.clusters() == sorted(["cluster-1", "other"])


def test_store_without_identity_file_is_rejected(store: Store) -> None:
    Path(store.location, "_kgroups.json").unlink()
    with pytest.raises(HistoryError, match="the store is incomplete; use another location"):
        store.create(IDENTITY)


def test_store_at_unknown_file_system_is_an_error() -> None:
    with pytest.raises(HistoryError, match="nowhere://x"):
        Store("nowhere://x").create(IDENTITY)


def test_server_that_overwrites_files_is_rejected(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Store(f"{s3}/unsafe")
    monkeypatch.setattr(type(made.storage), "create", lambda *_: True)
    with pytest.raises(HistoryError, match="If-None-Match"):
        made.create(IDENTITY)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("/tmp/store", "/tmp/store"),
        ("s3://bucket/path", "s3://bucket/path"),
        ("s3://KEY:SECRET@bucket/path", "s3://****@bucket/path"),
        ("s3://KEY:SE/CRET@bucket/path?region=x", "s3://****@bucket/path"),
        ("s3://bucket/path?secret_key=SECRET", "s3://bucket/path"),
    ],
)
def test_redact_location_masks_keys(location: str, shown: str) -> None:
    assert redact_location(location) == shown


@pytest.mark.parametrize(
    "location", ["mock://KEY:SECRET@x/y", "s3://KEY:SECRET@bucket?bad_option=SECRET", "x://me:SECRET@y/z"]
)
def test_store_errors_mask_keys(location: str) -> None:
    with pytest.raises(HistoryError) as caught:
        Store(location).identity()
    assert "SECRET" not in str(caught.value) + repr(caught.value)


def test_store_on_this_machine_is_private(tmp_path: Path) -> None:
    Store(str(tmp_path / "a" / "history")).create(IDENTITY)
    assert stat.S_IMODE((tmp_path / "a" / "history").stat().st_mode) == 0o700
    (tmp_path / "shared").mkdir(0o755)
    Store(str(tmp_path / "shared")).create(IDENTITY)
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "Generic S3 error: Error performing GET http://h/b in 5ms - HTTP error: error sending request\n\n"
            'Debug source:\nGeneric {\n  source: Os {\n code: 111,\n message: "Connection refused",\n },\n}',
            "Generic S3 error: Error performing GET http://h/b in 5ms - HTTP error: error sending request: "
            "Connection refused",
        ),
        (
            "Generic LocalFileSystem error\n  \x1b[31m\u21b3\x1b[0m Unable to open file /a#1\n"
            "   \x1b[31m\u21b3\x1b[0m Permission denied (os error 13)\n",
            "Generic LocalFileSystem error: Unable to open file /a#1: Permission denied (os error 13)",
        ),
        ('no such key\n\nDebug source:\nX { message: "no such key" }', "no such key"),
        ("", "OSError"),
    ],
)
def test_error_of_an_object_store_is_one_line_with_all_causes(text: str, reason: str) -> None:
    assert full_reason(OSError(text)) == reason


def test_error_of_a_location_names_its_cause(tmp_path: Path) -> None:
    (tmp_path / "commits").write_text("")
    with pytest.raises(HistoryError, match=r"commits/x: Generic LocalFileSystem error: .*: Not a directory"):
        Storage(str(tmp_path)).replace("commits/x", b"1")
