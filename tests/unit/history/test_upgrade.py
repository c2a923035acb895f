"""Stores of format 1 are converted in place, or stay as they are."""

from __future__ import annotations

import json
import math
import shutil
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgroups.errors import HistoryError
from kgroups.history.arrow import arrow_schema
from kgroups.history.load.manifest import BATCH, Entry
from kgroups.history.load.store import Identity, Store
from kgroups.history.load.upgrade import upgrade
from kgroups.history.tables import COMMITS, RECORDS, Table
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.history import three_commits

NOW = datetime(2026, 6, 1, tzinfo=UTC)

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


class Killed(BaseException):
    pass


def counted(store: Store, patch: pytest.MonkeyPatch, last: float) -> list[str]:
    """Raise at the step after ``last``: each file that is created, replaced, or deleted is a step. Return the steps."""
    steps: list[str] = []
    for method in ("create", "replace", "delete", "writing"):
        original = getattr(store.storage, method)

        def step(name: Any, *rest: Any, method: str = method, original: Any = original) -> Any:
            for each in name if isinstance(name, list) else [name]:
                if len(steps) > last and method == "delete":
                    return None  # cleaning up, which a killed process does not do
                steps.append(f"{method} {each}")
                if len(steps) > last:
                    raise Killed
                if method == "delete":
                    original([each])
            return None if method == "delete" else original(name, *rest)

        patch.setattr(store.storage, method, step)
    return steps


def test_upgrade_that_is_killed_at_any_step_can_be_repeated(
    old_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shutil.copytree(old_store, tmp_path / "whole")
    with monkeypatch.context() as patch:
        steps = counted(store := Store(str(whole)), patch, math.inf)
        upgrade(store)
    assert len(steps) > 10 and any(step.startswith("replace _kgroups.json") for step in steps)
    for last in range(len(steps)):
        folder = shutil.copytree(old_store, tmp_path / f"killed-{last}")
        with monkeypatch.context() as patch, pytest.raises(Killed):
            counted(store := Store(str(folder)), patch, last)
            upgrade(store)
        assert upgrade(Store(str(folder))) in (3, -1), steps[last]
        store = Store(str(folder))
        assert times_in(store, RECORDS) == [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
        assert times_in(store, COMMITS) == [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2)]
        assert (store.snapshot().positions, store.snapshot().records) == ({3: 3}, 3)
        assert not list(folder.rglob("batch=*/*.parquet")) and not list(folder.glob("_manifest/*.json"))
        assert not (folder / "_checkpoint" / "offsets" / "1").exists()


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ({"format": 3}, "format 3 and schema 1, this version reads format 2"),
        ({"format": 0}, "format 0"),
        ({"format": -1}, "format -1"),
        ({"format": 10**30}, "format 1000"),
        ({"format": 1}, "nothing was changed"),
        ({"schema": 2}, "schema 2"),
        ({"format": 1, "schema": 0}, "schema 0"),
        ({"format": "2"}, "cannot be identified"),
        ({"format": True}, "cannot be identified"),
        ({"format": 2.0}, "cannot be identified"),
        ({"format": None}, "cannot be identified"),
        ({"format": 1, "cluster_id": "east", "topic": "t"}, "nothing was changed"),
        ([], "is damaged"),
    ],
)
@pytest.mark.parametrize("cluster", [None, "east"])
def test_store_of_another_format_is_neither_read_nor_changed(
    tmp_path: Path, identity: Any, message: str, cluster: str | None
) -> None:
    three_commits().stored_in(tmp_path / "store", "east")
    file = tmp_path / "store" / "_kgroups.json"
    current = json.loads(file.read_text())
    file.write_text(json.dumps(current | identity if isinstance(identity, dict) else identity))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for use in (
        upgrade,
        compact,
        materialize,
        Store.snapshot,
        Store.identity,
        Store.clusters,
        partial(expire, older_than=NOW),
    ):
        with pytest.raises(HistoryError) as error:
            use(Store(str(tmp_path / "store"), cluster))
        if use is upgrade:
            assert message in str(error.value)
    for write in (
        lambda store: store.create(Identity("east", "__consumer_offsets", "2026-01-01T00:00:00+00:00")),
        lambda store: store.create(Identity("west", "__consumer_offsets", "2026-01-01T00:00:00+00:00")),
        lambda store: store.commit(Entry(BATCH, ())),
    ):
        with pytest.raises(HistoryError):
            write(Store(str(tmp_path / "store"), cluster))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "entry",
    [
        [],
        {},
        {"name": 1, "tables": [], "replaces": []},
        {"name": "batch-00000001", "tables": "records", "replaces": []},
        {"name": "batch-00000001", "tables": ["records"], "replaces": [1]},
        {"name": "batch-00000001", "tables": ["records"], "replaces": [], "records": "x"},
    ],
)
def test_upgrade_of_store_with_an_invalid_entry_changes_nothing(old_store: Path, entry: Any) -> None:
    (old_store / "_manifest" / "batch-00000001.json").write_text(json.dumps(entry))
    before = {path: path.read_bytes() for path in old_store.rglob("*") if path.is_file()}
    with pytest.raises(HistoryError, match=r"batch-00000001.json is damaged; nothing was changed"):
        upgrade(Store(str(old_store)))
    assert {path: path.read_bytes() for path in old_store.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("lost", ["records/batch=00000001/part-00000.parquet", "_checkpoint/offsets/1"])
def test_upgrade_of_damaged_store_changes_nothing(old_store: Path, lost: str) -> None:
    (old_store / lost).unlink()
    with pytest.raises(HistoryError, match="nothing was changed"):
        upgrade(Store(str(old_store)))
    with pytest.raises(HistoryError, match="format 1"):
        Store(str(old_store)).snapshot()
