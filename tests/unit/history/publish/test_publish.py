"""Published tables have the rows of current entries, each once, whatever happens to a publish."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.table import Table as IcebergTable

from kgroups.errors import HistoryError
from kgroups.history.arrow import to_batch
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import Store
from kgroups.history.publish import delta as delta_module
from kgroups.history.publish import run
from kgroups.history.publish.delta import DeltaTarget
from kgroups.history.publish.iceberg import SNAPSHOTS_KEPT, STORE, IcebergTarget
from kgroups.history.publish.run import Published, publish
from kgroups.history.tables import COMMITS, HEADS, MEMBERS, STORED, Column
from tests.fakes.published import Scene, add_batch, compact, delta, digest, iceberg, make_stores, polars_frame

WITH_ROWS = (COMMITS, MEMBERS, HEADS)


def test_rows_are_those_of_current_entries(any_scene: Scene) -> None:
    with any_scene.store.writer() as writer:  # of an entry that is never committed
        writer.add(HEADS, to_batch(HEADS, [{"topic": "orphan", "partition": 0}]))
    assert any_scene.publish() == Published(len(STORED), 28, 0)
    any_scene.assert_published()
    assert any_scene.publish() == Published(len(STORED), 0, 0)
    add_batch(any_scene.store, 3)
    assert any_scene.publish() == Published(len(STORED), 7, 0)
    any_scene.assert_published()
    compact(any_scene.store)
    assert any_scene.store.delete_replaced(timedelta()) == 0  # published tables name these files
    assert any_scene.publish() == Published(len(STORED), 7, 21)
    any_scene.assert_published()
    assert any_scene.store.delete_replaced(timedelta()) == 3
    assert any_scene.store.delete_orphans(timedelta()) == 1
    any_scene.assert_published()
    assert any_scene.publish() == Published(len(STORED), 0, 0)


def test_engines_return_equal_rows(
    tmp_path: Path, catalog: dict[str, str], duck: Callable[[list[str]], pa.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")  # otherwise Polars warns that another one is faster
    location = str(tmp_path / "history")
    store, _ = make_stores(location)
    for step in ("collected", "compacted"):
        publish(location, IcebergTarget(location, "test", "kgroups", catalog))
        publish(location, DeltaTarget(location))
        for table in WITH_ROWS:
            in_iceberg, in_delta = iceberg(catalog, table), delta(store, table)
            files = [task.file.file_path.removeprefix("file://") for task in in_iceberg.scan().plan_files()]
            assert sorted(files) == sorted(in_delta.file_uris())
            found = {
                "pyiceberg": in_iceberg.scan().to_arrow(),
                "deltalake": in_delta.to_pyarrow_table(),
                "DuckDB": duck(files),
                "Polars, Iceberg": polars_frame(pl.scan_iceberg(in_iceberg)),
                "Polars, Delta": polars_frame(pl.scan_delta(in_delta)),
            }
            digests = {engine: digest(rows, table) for engine, rows in found.items()}
            assert set(digests.values()) == {digests["DuckDB"]}, (step, digests)
            assert digests["DuckDB"][0] == (4 if table is HEADS else 12)
        compact(store)


def test_columns_have_comments(scene: Scene, form: str, catalog: dict[str, str]) -> None:
    scene.publish()
    if form == "iceberg":
        found = {field.name: field.doc for field in iceberg(catalog, COMMITS).schema().fields}
    else:
        found = {field.name: field.metadata["comment"] for field in delta(scene.store, COMMITS).schema().fields}
        assert found.pop("date").startswith("day of the row's time")
    assert found == {"cluster_id": "ID of the cluster", **{column.name: column.doc for column in COMMITS.columns}}


def test_rows_can_be_selected_by_day(tmp_path: Path, catalog: dict[str, str]) -> None:
    location = str(tmp_path / "history")
    store, _ = make_stores(location)
    publish(location, IcebergTarget(location, "test", "kgroups", catalog))
    publish(location, DeltaTarget(location))
    scan = iceberg(catalog, COMMITS).scan(row_filter="log_time >= '2026-01-02T00:00:00+00:00'")
    assert len(list(scan.plan_files())) == 4 and scan.to_arrow().num_rows == 4
    assert iceberg(catalog, COMMITS).scan(row_filter="log_time is null").to_arrow().num_rows == 4
    assert len(delta(store, COMMITS).file_uris(file_pruning_predicate=[("date", "=", "2026-01-02")])) == 4
    assert delta(store, COMMITS).to_pyarrow_table()["date"].to_pylist().count("unknown") == 4


def test_new_column_and_changed_comment(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.publish()
    first = COMMITS.columns[0]._replace(doc="another comment")
    later = COMMITS._replace(columns=(first, *COMMITS.columns[1:], Column("new", "array<string>", "a new column")))
    monkeypatch.setattr(run, "STORED", [later if table is COMMITS else table for table in STORED])
    row = {"log_partition": 0, "log_offset": 0, "group": "g", "tombstone": False, "new": ["x"]}
    scene.store.add(BATCH, {later: to_batch(later, [row])})
    assert scene.publish() == Published(len(STORED), 1, 0)
    assert scene.published(later) == scene.expected(later)
    assert sorted(scene.read(later)["new"].to_pylist(), key=str) == [*[None] * 12, ["x"]]
    with closing(scene.target()) as target:
        opened: Any = target.open(later)
        fields = opened._delta.schema().fields if hasattr(opened, "_delta") else opened._found.schema().fields
    docs = {field.name: field.metadata["comment"] if hasattr(field, "metadata") else field.doc for field in fields}
    assert (docs["log_partition"], docs["new"]) == ("another comment", "a new column")
    assert scene.publish() == Published(len(STORED), 0, 0)


class Killed(BaseException):
    """The end of a process."""


class Steps:
    """Ends the process before or after a step that other processes can see."""

    def __init__(self, patch: pytest.MonkeyPatch, kill_at: int) -> None:
        self._left = kill_at
        for owner, name in (
            (IcebergTable, "_do_commit"),
            (DeltaTable, "create_write_transaction"),
            (delta_module, "create_table_with_add_actions"),
        ):
            patch.setattr(owner, name, self._wrap(getattr(owner, name)))

    def _wrap(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **named: Any) -> Any:
            self._count()
            result = real(*args, **named)
            self._count()
            return result

        return step

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Killed


def kill(scene: Scene, at: int) -> bool:
    """Kill a publish; return whether it was still running."""
    with pytest.MonkeyPatch.context() as patch:
        Steps(patch, at)
        try:
            scene.publish()
        except Killed:
            return True
    return False


@pytest.mark.parametrize("at", [0, 1, 2, 21, 22, 23, 24])
def test_first_publish_that_was_killed_can_be_repeated(scene: Scene, at: int) -> None:
    assert kill(scene, at)
    scene.publish()
    scene.assert_published()


def test_publish_that_was_killed_leaves_each_table_whole(scene: Scene) -> None:
    scene.publish()
    for at in range(100):
        before = {table: scene.expected(table) for table in WITH_ROWS}
        add_batch(scene.store, 5 + at)
        compact(scene.store)
        killed = kill(scene, at)
        for table in WITH_ROWS:
            assert scene.published(table) in (before[table], scene.expected(table))
        if not killed:
            break
        scene.publish()
        assert all(scene.published(table) == scene.expected(table) for table in WITH_ROWS)
    assert at == 6, "two for each of the three tables with rows"


def meanwhile(monkeypatch: pytest.MonkeyPatch, *actions: Callable[[], object]) -> None:
    """Run an action after a publish has read the manifests, and before it commits: the first time, the second, …"""
    real, todo = run._snapshots, [lambda: None, *actions]
    reads = []

    def snapshots(location: str) -> Any:
        found = real(location)
        reads.append(found)
        if len(reads) % 2 == 0 and len(todo) > 1:
            action = todo.pop(1)
            action()
        return found

    monkeypatch.setattr(run, "_snapshots", snapshots)


def test_publish_of_an_older_manifest_starts_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def overtake() -> None:
        compact(scene.store)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "_snapshots", real)
            assert scene.publish().added == 7

    scene.publish()
    real = run._snapshots
    add_batch(scene.store, 3)
    meanwhile(monkeypatch, overtake)
    assert scene.publish() == Published(len(STORED), 0, 0)
    scene.assert_published()


def test_first_publishes_at_the_same_time(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def overtake() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "_snapshots", real)
            scene.publish()

    real = run._snapshots
    meanwhile(monkeypatch, overtake)
    assert scene.publish() == Published(len(STORED), 0, 0)
    scene.assert_published()


def test_table_that_always_changes_is_one_clear_error(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def overtake() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "_snapshots", real)
            add_batch(scene.store, 3)
            scene.publish()

    real = run._snapshots
    scene.publish()
    add_batch(scene.store, 3)
    monkeypatch.setattr(run, "ATTEMPTS", 2)
    meanwhile(monkeypatch, overtake, overtake)
    # Each attempt finds that the other has published everything, and has nothing left to do: add more first.
    stale = run._publish_once

    def once(*args: Any) -> None:
        add_batch(scene.store, 4)
        stale(*args)

    monkeypatch.setattr(run, "_publish_once", once)
    with pytest.raises(HistoryError, match=r"^table commits is being changed by another process; wait until"):
        scene.publish()


def test_store_without_history_is_not_published(tmp_path: Path, form: str, catalog: dict[str, str]) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        location = str(folder)
        target = DeltaTarget(location) if form == "delta" else IcebergTarget(location, "test", "kgroups", catalog)
        with pytest.raises(HistoryError, match="holds no history"):
            publish(location, target)
        assert not list(tmp_path.rglob("_delta_log"))


def test_missing_file_is_not_published(scene: Scene) -> None:
    file = scene.store.snapshot().files(COMMITS)[0]
    Path(scene.store.location, file.path).unlink()
    with pytest.raises(HistoryError, match=r"date=2026-01-01/.*parquet: No such file"):
        scene.publish()


def test_damaged_catalog_is_one_clear_error(tmp_path: Path) -> None:
    location = str(tmp_path / "history")
    make_stores(location)
    for properties, message in (
        ({}, "URI missing"),
        ({"uri": "http://127.0.0.1:9", "token": "SECRET"}, "127.0.0.1"),
        ({"type": "sql", "uri": "sqlite:////nowhere/SECRET@x/c.db"}, "unable to open database file"),
        ({"type": "nothing"}, "not a valid CatalogType"),
    ):
        with pytest.raises(HistoryError) as caught:
            publish(location, IcebergTarget(location, "nothere", "kgroups", properties))
        text = str(caught.value)
        assert text.startswith("Iceberg catalog nothere: ") and message in text
        assert "\n" not in text and "SECRET" not in text


def test_tables_of_another_store_are_rejected(tmp_path: Path, catalog: dict[str, str]) -> None:
    places = [str(tmp_path / name) for name in ("one", "two")]
    for place in places:
        make_stores(place)
    publish(places[0], IcebergTarget(places[0], "test", "kgroups", catalog))
    with pytest.raises(HistoryError, match=r"kgroups\.records was not published from store .*two, but from .*one; use"):
        publish(places[1], IcebergTarget(places[1], "test", "kgroups", catalog))
    publish(places[1], IcebergTarget(places[1], "test", "other", catalog))
    table = iceberg(catalog, COMMITS)
    with closing(table.catalog), table.transaction() as transaction:
        transaction.remove_properties(STORE)
    with pytest.raises(HistoryError, match=r"kgroups\.commits was not published .* but by another program"):
        publish(places[0], IcebergTarget(places[0], "test", "kgroups", catalog))


def test_delta_log_of_another_program_is_rejected(tmp_path: Path) -> None:
    location = str(tmp_path / "history")
    make_stores(location)
    from deltalake import write_deltalake

    write_deltalake(f"{location}/heads", pa.table({"a": [1]}))
    with pytest.raises(
        HistoryError, match=r"heads has a Delta log that kgroups has not written; delete heads/_delta_log"
    ):
        publish(location, DeltaTarget(location))


def test_iceberg_keeps_engines_from_deleting_files(tmp_path: Path, catalog: dict[str, str]) -> None:
    location = str(tmp_path / "history")
    make_stores(location)
    publish(location, IcebergTarget(location, "test", "kgroups", catalog))
    table = iceberg(catalog, COMMITS)
    with closing(table.catalog), table.transaction() as transaction:
        transaction.set_properties({"gc.enabled": "true", "commit.retry.num-retries": "4"})
    publish(location, IcebergTarget(location, "test", "kgroups", catalog))
    properties = iceberg(catalog, COMMITS).properties
    assert (properties["gc.enabled"], properties["commit.retry.num-retries"]) == ("false", "0")


def test_old_snapshots_are_dropped(tmp_path: Path, catalog: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    location = str(tmp_path / "history")
    store, _ = make_stores(location)
    for number in (3, 4):
        publish(location, IcebergTarget(location, "test", "kgroups", catalog))
        add_batch(store, number)
    assert len(iceberg(catalog, COMMITS).metadata.snapshots) == 2 and timedelta(days=5) == SNAPSHOTS_KEPT
    publish(location, IcebergTarget(location, "test", "kgroups", catalog))
    assert len(iceberg(catalog, COMMITS).metadata.snapshots) == 3
    monkeypatch.setattr("kgroups.history.publish.iceberg.SNAPSHOTS_KEPT", timedelta())
    add_batch(store, 5)
    publish(location, IcebergTarget(location, "test", "kgroups", catalog))
    assert len(iceberg(catalog, COMMITS).metadata.snapshots) == 1


def test_delta_tables_can_be_moved_with_the_store(tmp_path: Path) -> None:
    location = str(tmp_path / "history")
    make_stores(location)
    publish(location, DeltaTarget(location))
    moved = Path(location).rename(tmp_path / "moved")
    assert delta(Store(str(moved)), COMMITS).to_pyarrow_table().num_rows == 12
    assert publish(str(moved), DeltaTarget(str(moved))) == Published(len(STORED), 0, 0)
