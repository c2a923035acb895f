"""``compact`` and ``expire`` on Spark leave the same rows in files of the same sizes as in this process."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from kgroups.errors import HistoryError
from kgroups.files.object_files import UNFINISHED
from kgroups.history import materialized
from kgroups.history.arrow import arrow_schema
from kgroups.history.load.read import read_rows
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import MATERIALIZED, STORED, Table
from kgroups.history.upkeep import materialize
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.on_spark import OnSpark
from kgroups.history.upkeep.rewrite import Elsewhere
from tests.fakes.group_protocol import END, START
from tests.fakes.history import at, hide, hide_groups, rows_of
from tests.unit.history.transform.test_expire import random_groups, stored
from tests.unit.history.transform.test_materialize import batches

NO_GRACE = timedelta(0)


def on_spark(spark: SparkSession, store: Store) -> Elsewhere:
    return OnSpark(lambda: spark, store, lambda line: None)


def content(store: Store) -> dict[str, Counter[str]]:
    return {table.name: Counter(map(str, rows_of(store, table.name))) for table in STORED}


def materialized_rows(store: Store, table: Table) -> Counter[str]:
    step = store.snapshot().materialized
    files = [file for file in step.files if file.table == table.name] if step else []
    rows = (batch for file in files for batch in read_rows(store.storage, table, file.path))
    return Counter(str(row) for batch in rows for row in batch.to_pylist())


def sizes(store: Store) -> Counter[tuple[str, int]]:
    """Return the folders and numbers of rows of the files."""
    return Counter((file.path.rpartition("/")[0], file.rows) for file in store.snapshot().all_files())


def paths(store: Store) -> set[str]:
    return {path for table in (*STORED, *MATERIALIZED) for path in store.storage.names(table.name)}


@pytest.mark.parametrize("seed", range(1, 4))
def test_steps_on_spark_equal_those_in_this_process(spark: SparkSession, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    made = random_groups(seed, 4)
    hide(made.history, chance)
    hide_groups(made.history, chance)
    limits = sorted(at(chance.uniform(START, END)) for _ in range(2))
    here, there = (stored(tmp_path / name, made.history) for name in ("here", "there"))
    assert content(here) == content(there)
    steps: list[Callable[..., int]] = [*(partial(expire, older_than=limit) for limit in limits), compact]
    for step in steps:
        step(here)
        step(there, elsewhere=on_spark(spark, there))
        assert content(here) == content(there)
        assert sizes(here) == sizes(there)
        assert not there.storage.names(UNFINISHED)
    there.delete_replaced(NO_GRACE)
    assert paths(there) == {file.path for file in there.snapshot().all_files()}


def test_damaged_file_ends_a_step_on_spark_and_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    made = random_groups(1, 4)
    store = stored(tmp_path / "store", made.history)
    before = store.snapshot()
    damaged = max((file for file in before.all_files() if file.table == "commits"), key=lambda file: file.rows)
    path = Path(store.location, damaged.path)
    path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    with pytest.raises(HistoryError, match="nothing was changed") as caught:
        compact(store, elsewhere=on_spark(spark, store))
    assert "\n" not in str(caught.value)
    assert damaged.path in str(caught.value)
    assert Store(store.location).snapshot() == before


@pytest.mark.parametrize("seed", range(1, 4))
def test_materializing_on_spark_equals_that_in_this_process(
    spark: SparkSession, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one chunk with several slices, and in several chunks."""
    chance = random.Random(seed)
    monkeypatch.setattr(materialized, "SETTLED", timedelta(seconds=100))
    monkeypatch.setattr(materialize, "TASKS", 3)
    here, there = (Store(str(tmp_path / name)) for name in ("here", "there"))
    for store in (here, there):
        store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    added = []
    found = Counter[str]()
    for kind, rows in batches(random_groups(seed, logs=4, actions=150).history, 4, chance):
        tables = {table: pa.Table.from_pylist(each, arrow_schema(table)) for table, each in rows.items()}
        for store in (here, there):
            store.add(kind, tables)
        if chance.random() < 0.5:
            continue
        monkeypatch.setattr(materialize, "ROWS", chance.choice((40, 150, 4_000_000)))
        added.append(materialize.materialize(here))
        assert materialize.materialize(there, elsewhere=on_spark(spark, there)) == added[-1]
        for table in MATERIALIZED:
            expected = materialized_rows(here, table)
            assert materialized_rows(there, table) == expected
            found[table.name] += len(expected)
    assert any(added)
    assert (+found).keys() == {table.name for table in MATERIALIZED}
    assert not there.storage.names(UNFINISHED)
