"""Which rows of a table are shown, and in which order."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pytest

from kgroups.cli.main import main
from kgroups.history.engine.duck import DuckDB
from kgroups.history.jobs.show import TableQuery, show_table
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import Identity, Store
from kgroups.history.run import show
from kgroups.history.tables import COMMITS, GROUP_METADATA, MEMBERS
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


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with commits of 30 groups, 3 at each time, of two clusters."""
    folder = tmp_path_factory.mktemp("large") / "store"
    history = History()
    for number in range(30):
        history.commit(f"g-{number:02}", number // 3, number)
    history.stored_in(folder, "east")
    history.stored_in(folder, "west")
    return folder


@pytest.mark.parametrize("output", ["json", "csv", "jsonl", "plain"])
@pytest.mark.parametrize("quiet", [(), ("-q",)])
@pytest.mark.parametrize(("limit", "chosen"), [(29, True), (29, False), (30, True), (30, False)])
def test_rows_that_the_limit_cuts_are_named_in_every_format(
    large: Path,
    output: str,
    quiet: tuple[str, ...],
    limit: int,
    chosen: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(show, "LIMIT", limit)
    words = ("--store", str(large), "--cluster", "east", "-o", output, *quiet)
    code = main(("history", "show", "latest_offsets", *words, *((f"--limit={limit}",) if chosen else ())))
    printed = capsys.readouterr()
    text = f"rows are missing: the latest {limit} rows are shown; select fewer with filters, or set a larger"
    assert (text in printed.err) == (limit < 30)
    assert code == (1 if limit < 30 and not chosen else 0)
    assert printed.out.count("g-") == limit
    if output == "json":
        assert any(text in each for each in json.loads(printed.out)["notices"]) == (limit < 30)


def test_limit_of_each_cluster_is_named(large: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--store", str(large), "--all-clusters", "--limit", "10", "-o", "json")
    assert main(("history", "show", "commits", *words)) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["items"]) == 20
    assert [each.partition(": ")[0] for each in found["notices"] if "latest 10 rows are shown" in each] == [
        "cluster east",
        "cluster west",
    ]


@pytest.mark.parametrize("limit", range(1, 31))
def test_limit_shows_the_latest_rows(large: Path, limit: int) -> None:
    with DuckDB() as engine:
        query = TableQuery("commits", (), (), None, at(60), 30)
        whole = show_table(engine, Store(str(large), "east"), query)
        cut = show_table(engine, Store(str(large), "east"), query._replace(limit=limit))
    assert (whole.has_more, cut.has_more) == (False, limit < 30)
    times = [str(row[2]) for row in whole.rows]
    assert times == sorted(times)
    latest = sorted(whole.rows, key=lambda row: str(row[2]), reverse=True)[:limit]  # stable: the first of a time
    assert set(map(str, cut.rows)) == set(map(str, latest))
    assert [row for row in whole.rows if row in cut.rows] == cut.rows
