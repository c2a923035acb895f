"""Derived tables by parts: the rows of all tasks are those of SQL, on this machine and in an object store."""

from __future__ import annotations

import pickle
from fnmatch import fnmatchcase
from typing import Any

import pytest

from kgroups.errors import HistoryError
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import IDENTITY, Store
from kgroups.history.stored import derived
from kgroups.history.stored.source import StoredSource
from kgroups.history.tables import COMMITS, STORED
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.group_protocol import RandomGroups
from tests.fakes.history import ordered, rows_of, three_commits

UNTIL = "2100-01-01"


def read(store: Store, **options: str) -> list[list[dict[str, Any]]]:
    """Return the rows of each task, as Spark runs them: with pickled readers and partitions."""
    source = StoredSource({"path": store.location, "until": UNTIL, **options})
    reader = source.reader(source.schema())
    tasks = [pickle.loads(pickle.dumps((reader, part))) for part in reader.partitions()]
    return [[row for batch in each.read(part) for row in batch.to_pylist()] for each, part in tasks]


def test_rows_of_all_tasks_are_those_of_sql(any_store: Store) -> None:
    rows = RandomGroups(seed=3, logs=2, groups=6, actions=30).history.arrow()
    any_store.add(BATCH, {table: rows[table.name] for table in STORED})
    assert materialize(any_store)
    for name, parts in {"commit_rate": 3, "lag": 2, "anomalies": 2, "completeness": 5}.items():
        found = read(any_store, table=name, numPartitions=str(parts))
        assert len(found) == (1 if name == "completeness" else parts)
        expected = [{"cluster_id": any_store.cluster, **row} for row in rows_of(any_store, name)]
        assert ordered([row for each in found for row in each]) == ordered(expected)


@pytest.mark.parametrize(("groups", "tasks"), [("g-0-*,g-1-1", 3), ("g-0-0", 1), ("nobody", 1)])
def test_groups_are_selected(store: Store, groups: str, tasks: int) -> None:
    rows = RandomGroups(seed=3, logs=2, groups=6, actions=30).history.arrow()
    store.add(BATCH, {table: rows[table.name] for table in STORED})
    found = read(store, table="latest_offsets", numPartitions="3", groups=groups, columns="group,log_offset")
    assert len(found) == tasks
    names = groups.split(",")
    expected = [
        {"group": row["group"], "log_offset": row["log_offset"]}
        for row in rows_of(store, "latest_offsets")
        if any(fnmatchcase(row["group"], name) for name in names)
    ]
    assert ordered([row for each in found for row in each]) == ordered(expected)


def test_task_reports_a_damaged_file(any_store: Store) -> None:
    rows = RandomGroups(seed=3, logs=2, groups=6, actions=30).history.arrow()
    any_store.add(BATCH, {table: rows[table.name] for table in STORED})
    [file] = [each for each in any_store.snapshot().all_files() if each.table == "commits"]
    any_store.storage.replace(file.path, b"x" * file.size)
    for table in ("commits", "latest_offsets"):
        with pytest.raises(HistoryError, match=rf"{file.path}: "):
            read(any_store, table=table)
    any_store.storage.delete([file.path])
    for table in ("commits", "latest_offsets"):
        with pytest.raises(HistoryError, match=rf"{file.path}"):
            read(any_store, table=table)


def test_number_of_tasks_follows_from_the_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RandomGroups(seed=3, logs=2, groups=6, actions=30).history.arrow()
    store.add(BATCH, {table: rows[table.name] for table in STORED})
    assert len(read(store, table="latest_offsets")) == 1
    needed = sum(file.rows for file in derived.slim(store.snapshot(), "latest_offsets").all_files())
    monkeypatch.setattr("kgroups.history.stored.source.AT_ONCE", -(-needed // 4))
    assert len(read(store, table="latest_offsets")) == 4


def test_stores_that_cannot_be_read_are_errors(store: Store) -> None:
    for _ in range(3):
        store.add(BATCH, {COMMITS: three_commits().arrow()["commits"]})
    store.delete_json(["00000001"])
    for table in ("commits", "latest_offsets"):
        with pytest.raises(HistoryError, match=r"is damaged: entry 1 is missing$"):
            read(store, table=table)
    store.storage.replace(IDENTITY, b'{"format": 1, "schema": 1}')
    for table in ("commits", "latest_offsets"):
        with pytest.raises(HistoryError, match=r"has format 1, of an older version; convert it in place: "):
            read(store, table=table)
