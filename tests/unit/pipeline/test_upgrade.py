"""Stores of format 1 are converted in place, or stay as they are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgroups.errors import HistoryError
from kgroups.pipeline.load.store import Store
from kgroups.pipeline.load.upgrade import upgrade
from kgroups.pipeline.tables import COMMITS, RECORDS, Table, arrow_schema

IDENTITY = {"cluster_id": "cluster-1", "topic": "__consumer_offsets", "created": "2026-01-01T00:00:00+00:00"}


def write(folder: Path, table: Table, entry: str, *offsets: int) -> None:
    """Write a file as Spark did: times as INT96, without a zone."""
    rows = [
        {"log_partition": 3, "log_offset": each, "log_time": datetime(2026, 1, 1 + each, tzinfo=UTC)}
        for each in offsets
    ]
    data = pa.Table.from_pylist(rows, schema=arrow_schema(table))
    data = data.drop_columns([name for name in ("topic_id",) if name in table.names])  # a column that came later
    path = folder / table.name / f"batch={entry.removeprefix('batch-')}"
    path.mkdir(parents=True)
    pq.write_table(data, path / "part-00000.parquet", use_deprecated_int96_timestamps=True)
    (path / "_SUCCESS").touch()


def commit(folder: Path, name: str, *tables: str, records: int = 0, replaces: tuple[str, ...] = ()) -> None:
    entry = {"name": name, "tables": tables, "records": records, "replaces": replaces, "undecoded": 0}
    (folder / "_manifest" / f"{name}.json").write_text(json.dumps(entry))


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """Two batches, of which the first was merged; and a third, which was not committed."""
    folder = tmp_path / "history"
    (folder / "_manifest").mkdir(parents=True)
    (folder / "_kgroups.json").write_text(json.dumps({**IDENTITY, "format": 1, "schema": 1}))
    write(folder, RECORDS, "compact-1", 0, 1)
    write(folder, COMMITS, "compact-1", 0, 1)
    write(folder, RECORDS, "batch-00000001", 2)
    write(folder, RECORDS, "batch-00000002", 9)
    commit(folder, "compact-1", "records", "commits", records=2, replaces=("batch-00000000",))
    commit(folder, "batch-00000001", "records", records=1)
    offsets = folder / "_checkpoint" / "offsets"
    offsets.mkdir(parents=True)
    for batch, position in enumerate((2, 3, 10)):
        (offsets / str(batch)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{{"3":{position}}}')
    return folder


def times_in(store: Store, table: Table) -> list[datetime]:
    files = store.snapshot().files(table)
    return sorted(
        time for file in files for time in pq.read_table(store.storage.opened(file.path))["log_time"].to_pylist()
    )


def test_older_store_is_rejected_with_the_command_that_converts_it(old_store: Path) -> None:
    with pytest.raises(
        HistoryError, match="format 1, of an older version; convert it in place: kgroups history upgrade"
    ):
        Store(str(old_store)).snapshot()


def test_upgrade_keeps_all_rows_and_the_position(old_store: Path) -> None:
    assert upgrade(Store(str(old_store))) == 3
    store = Store(str(old_store))
    assert times_in(store, RECORDS) == [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    assert times_in(store, COMMITS) == [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2)]
    assert (store.snapshot().positions, store.snapshot().records) == ({3: 3}, 3)
    assert store.identity().cluster_id == "cluster-1"
    assert not list(old_store.rglob("batch=*/*.parquet")) and not list(old_store.glob("_manifest/*.json"))
    assert upgrade(store) == -1


def test_upgrade_that_was_killed_can_be_repeated(old_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(old_store))

    def killed(name: str, data: bytes) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(store.storage, "replace", killed)
        upgrade(store)
    assert upgrade(Store(str(old_store))) == 3
    assert len(times_in(Store(str(old_store)), RECORDS)) == 3


@pytest.mark.parametrize("lost", ["records/batch=00000001/part-00000.parquet", "_checkpoint/offsets/1"])
def test_upgrade_of_damaged_store_changes_nothing(old_store: Path, lost: str) -> None:
    (old_store / lost).unlink()
    with pytest.raises(HistoryError, match="nothing was changed"):
        upgrade(Store(str(old_store)))
    with pytest.raises(HistoryError, match="format 1"):
        Store(str(old_store)).snapshot()
