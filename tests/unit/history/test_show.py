"""Which rows of a table are shown, and in which order."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

from kgroups.pipeline.engine.duck import DuckDB
from kgroups.pipeline.jobs.show import TableQuery, show_table
from kgroups.pipeline.load.manifest import BATCH
from kgroups.pipeline.load.store import Identity, Store
from kgroups.pipeline.tables import COMMITS, GROUP_METADATA, MEMBERS
from tests.fakes.history import History, at


def stored(location: Path, history: History, seed: int) -> Store:
    """Return a store with the rows of a history in a random order."""
    store, tables, chance = Store(str(location)), history.arrow(), random.Random(seed)
    store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    for table in (COMMITS, GROUP_METADATA, MEMBERS):
        rows = tables[table.name]
        places = chance.sample(range(rows.num_rows), rows.num_rows)
        store.add(BATCH, {table: rows.take(pa.array(places))})
    return store


@pytest.mark.parametrize("table", ["commits", "members", "memberships", "stale", "latest_offsets"])
def test_limit_keeps_the_same_of_rows_with_the_same_time_in_the_same_order(table: str, tmp_path: Path) -> None:
    history = History()
    for number in range(40):
        history.commit(f"g-{number:02}", 0, number)
        history.commit(f"g-{number:02}", 0, number + 1)
        history.snapshot(f"h-{number:02}", 0, 1, [f"m-{each}" for each in range(3)])
    found = []
    for seed in range(4):
        store = stored(tmp_path / str(seed), history, seed)
        with DuckDB() as engine:
            found.append(show_table(engine, store, TableQuery(table, (), (), None, at(60), 25)).rows)
    assert len(found[0]) == 25
    assert all(rows == found[0] for rows in found)
