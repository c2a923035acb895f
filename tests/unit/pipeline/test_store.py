"""The store's layout and manifest, without Spark."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from kgroups.errors import HistoryError
from kgroups.pipeline.load.store import Entry, Identity, Store, redact_location
from kgroups.pipeline.tables import HEADS, arrow_schema

IDENTITY = Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00")


def heads(*ends: int) -> pa.RecordBatch:
    rows = [
        {"sampled_at": datetime(2026, 1, 1, tzinfo=UTC), "topic": "t", "partition": at, "log_start": 0, "log_end": end}
        for at, end in enumerate(ends)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(HEADS))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "history"))
    made.create(IDENTITY)
    return made


def put(store: Store, name: str, *ends: int, replaces: tuple[str, ...] = ()) -> None:
    store.put(HEADS.name, name, heads(*ends))
    store.commit(Entry(name, (HEADS.name,), len(ends), replaces))


def ends_in(store: Store) -> list[int]:
    folders = store.folders(HEADS.name)
    rows = [row for folder in folders for row in ds.dataset(folder).to_table().to_pylist()]
    return sorted(row["log_end"] for row in rows)


def test_put_is_visible_only_after_commit(store: Store) -> None:
    store.put(HEADS.name, "batch-00000000", heads(5))
    assert ends_in(store) == []
    store.commit(Entry("batch-00000000", (HEADS.name,), 1))
    assert ends_in(store) == [5]
    assert store.folders("commits") == []


def test_put_of_the_same_batch_overwrites_it(store: Store) -> None:
    put(store, "batch-00000000", 5)
    put(store, "batch-00000000", 6)
    assert ends_in(store) == [6]


def test_entry_hides_and_then_removes_replaced_entries(store: Store) -> None:
    put(store, "batch-00000000", 1)
    put(store, "batch-00000001", 2)
    put(store, "batch-00000002", 3)
    merged = Entry("compact-1", (HEADS.name,), 2, ("batch-00000000", "batch-00000001"))
    store.put(HEADS.name, merged.name, heads(1, 2))
    store.commit(merged)
    assert ends_in(store) == [1, 2, 3]
    store.delete_replaced(merged)
    assert ends_in(store) == [1, 2, 3]
    assert store.holds("batch-00000000")
    assert store.holds("batch-00000002")
    assert not store.holds("batch-00000003")
    assert not Path(store.folder(HEADS.name, "batch-00000000")).exists()


def test_store_can_be_reopened(store: Store) -> None:
    again = Store(store.location)
    assert again.create(IDENTITY._replace(created="later")) == IDENTITY
    assert again.identity() == IDENTITY


@pytest.mark.parametrize(
    ("change", "word"),
    [({"cluster_id": "cluster-2"}, "cluster-2"), ({"topic": "copy"}, "copy")],
)
def test_store_of_another_cluster_is_rejected(store: Store, change: dict[str, str], word: str) -> None:
    with pytest.raises(HistoryError, match=word):
        store.create(IDENTITY._replace(**change))


def test_store_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="holds no history"):
        Store(str(tmp_path)).identity()


def rewrite(store: Store, name: str, text: str) -> None:
    Path(store.location, name).write_text(text)


def test_store_of_another_schema_is_an_error(store: Store) -> None:
    rewrite(store, "_kgroups.json", json.dumps(IDENTITY._asdict() | {"schema": 99}))
    with pytest.raises(HistoryError, match="schema 99"):
        store.identity()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1}'])
def test_store_with_damaged_identity_is_an_error(store: Store, text: str) -> None:
    rewrite(store, "_kgroups.json", text)
    with pytest.raises(HistoryError, match=r"_kgroups\.json is damaged"):
        store.identity()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"name": "x"}'])
def test_store_with_damaged_entry_is_an_error(store: Store, text: str) -> None:
    put(store, "batch-00000000", 1)
    rewrite(store, "_manifest/batch-00000000.json", text)
    with pytest.raises(HistoryError, match=r"batch-00000000\.json is damaged"):
        store.entries()


def test_store_ignores_half_written_entries(store: Store) -> None:
    rewrite(store, "_manifest/batch-00000009.json.new", "{")
    assert store.entries() == []


def test_store_without_identity_file_is_rejected(store: Store) -> None:
    Path(store.location, "_kgroups.json").unlink()
    with pytest.raises(HistoryError, match="half a store"):
        store.create(IDENTITY)


def test_store_at_unknown_file_system_is_an_error() -> None:
    with pytest.raises(HistoryError, match="nowhere://x"):
        Store("nowhere://x")


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
