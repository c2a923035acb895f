"""Expiry changes no result for times after its limit: compared on random histories, for every derived table."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from kgroups.cli.main import main
from kgroups.history.engine.duck import DuckDB
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import Identity, Store
from kgroups.history.rules import Rules
from kgroups.history.tables import STORED
from kgroups.history.transform.definitions import BEGINNING, DERIVED, Span
from kgroups.history.upkeep.expire import expire
from tests.fakes.group_protocol import END, LOG_TABLES, START, RandomGroups, key_of
from tests.fakes.history import History, Row, at, derived_in, ordered, rows_of, three_commits

WINDOW = timedelta(minutes=2)
RULES = Rules(
    samples=5, storm=3, flaps=2, storm_window=WINDOW, flap_window=WINDOW, expiring_within=timedelta(days=8),
    stale_after=timedelta(minutes=2), bucket=timedelta(seconds=30),
)  # fmt: skip
COUNTS = {"from_offset", "records", "density", "missing"}
"""Columns of completeness that count what is stored."""
BEGINNINGS = {"since", "empty_since"}
"""Columns with the beginning of what lasts, which is before the limit if it is not after it."""

Results = dict[str, list[Row]]
"""Rows by derived table."""


def random_groups(seed: int, logs: int = 12, actions: int = 80) -> RandomGroups:
    """Return a history with sweeps, and coverage that was written when it was read."""
    made, chance = RandomGroups(seed, logs, groups=8, actions=actions), random.Random(seed)
    for second in sorted(chance.sample(range(START, END), 7)):
        complete = chance.random() < 0.6
        made.history.swept(second, complete=complete, retention=chance.choice((None, 3600, 7200)))
        for group in made.groups:
            states = [state for time, state in group.states if time < second]
            state = states[-1] if states else "Dead"
            if (group.offsets(second) or state != "Dead") and (complete or chance.random() < 0.5):
                offsets = {(group.topic, partition): offset for partition, offset in group.offsets(second).items()}
                type_ = "classic" if group.type == "simple" else group.type
                made.history.sweep(second, group.name, offsets, complete=complete, kind=type_, state=state)
    for row in made.history.rows["coverage"]:
        row["sampled_at"] = (row["last_time"] or at(END)) + timedelta(seconds=1)
    return made


def stored(location: Path, history: History, batches: int = 3) -> Store:
    """Return a store with the rows in several entries."""
    store = Store(str(location))
    store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    tables = history.arrow()
    for number in range(batches):
        parts = {table: _part(tables[table.name], number, batches) for table in STORED}
        store.add(BATCH, {table: rows for table, rows in parts.items() if rows.num_rows})
    return store


def _part(rows: pa.Table, number: int, parts: int) -> pa.Table:
    size = -(-rows.num_rows // parts)
    return rows.slice(number * size, size)


def content(store: Store) -> History:
    found = History()
    for table in STORED:
        found.rows[table.name] = rows_of(store, table.name)
    return found


def known_since(history: History, limit: datetime) -> History:
    """Return the history with coverage that begins at a time."""
    found = History()
    found.rows.update(history.rows)
    found.rows["coverage"] = [_begun(row, limit) for row in history.rows["coverage"]]
    return found


def _begun(row: Row, limit: datetime) -> Row:
    if row["first_time"] is None or row["first_time"] >= limit:
        return row
    row = {**row, "first_time": limit}
    if row["compacted"] and row["whole_since"] and row["whole_since"] < limit:
        row |= {"compacted": 0, "compacted_to": None, "whole_since": None}
    return row


def ended_groups(history: History, limit: datetime) -> set[str]:
    """Return the groups of which nothing is in effect: all records are old, and the last of each key a tombstone."""
    last: dict[object, Row] = {}
    for table in LOG_TABLES:
        for row in history.rows[table]:
            key = key_of(table, row)
            if key not in last or last[key]["log_offset"] < row["log_offset"]:
                last[key] = row
    swept = [row for table in ("sweeps", "baseline") for row in history.rows[table] if row["swept_at"] < limit]
    complete_at = max((row["swept_at"] for row in swept if row["complete"]), default=at(START - 1))
    alive = {row["group"] for row in last.values() if not row["tombstone"] or row["log_time"] >= limit}
    alive |= {row["group"] for row in history.rows["baseline"] if row["swept_at"] >= complete_at}
    return {row["group"] for row in last.values()} - alive


def results(history: History, since: datetime, ended: set[str]) -> Iterator[tuple[str, list[Row]]]:
    """Return what derived tables contain of the time after ``since``."""
    with DuckDB() as engine:
        rows = derived_in(engine, history, DERIVED, Span(since, at(END)), RULES)
        for name in DERIVED:
            yield name, ordered([_clipped(row, since) for row in rows(name) if row.get("group") not in ended])


def _clipped(row: Row, since: datetime) -> Row:
    row = {**row, **{name: max(row[name], since) for name in BEGINNINGS & row.keys() if row[name]}}
    return {column: value for column, value in row.items() if column not in COUNTS or "density" not in row}


def compare_begun(expected: Results, found: Results, history: History, limit: datetime, ended: set[str]) -> None:
    """Compare the bucket that began before the limit, and remove it: commits before the limit may lack in it."""
    bucket = limit - (limit - BEGINNING) % RULES.bucket
    if bucket == limit:
        return
    commits = (row for row in history.rows["commits"] if not row["tombstone"])
    later = Counter(row["group"] for row in commits if limit <= row["log_time"] < bucket + RULES.bucket)
    whole, rest = (
        {row["group"]: row for row in each["commit_rate"] if row["bucket"] == bucket} for each in (expected, found)
    )
    for each in (expected, found):
        each["commit_rate"] = [row for row in each["commit_rate"] if row["bucket"] != bucket]
    assert later.keys() - ended <= rest.keys() <= whole.keys()
    for group, row in rest.items():
        assert not row["complete"]
        assert later[group] <= row["commits"] <= whole[group]["commits"]
        if later[group] == whole[group]["commits"]:
            assert row == whole[group]


@pytest.mark.parametrize(("seed", "limit"), [(1, -150.125), (2, 50.0), (1, 240.125), (2, 420.0)])
def test_results_after_the_limit_are_the_same(seed: int, limit: float, tmp_path: Path) -> None:
    made = random_groups(seed)
    store = stored(tmp_path / "store", made.history)
    expire(store, at(limit))
    rest = content(store)
    before = known_since(made.history, at(limit))
    ended = ended_groups(made.history, at(limit))
    expected, found = (dict(results(history, at(limit), ended)) for history in (before, rest))
    compare_begun(expected, found, made.history, at(limit), ended)
    for name in DERIVED.keys() - {"anomalies"}:
        assert found[name] == expected[name], name
        assert expected[name], name
    # Storms and flapping begin before they are found.
    later = at(limit) + WINDOW
    expected, found = (dict(results(history, later, ended)) for history in (before, rest))
    assert found["anomalies"] == expected["anomalies"]


def test_undecoded_commit_in_effect_is_kept(tmp_path: Path) -> None:
    history = History()
    for number, group in enumerate(("a", "b")):
        history.commit(group, 0, 5, log_partition=number)
        history.undecoded(group, 10, log_partition=number)
    history.commit("b", 20, 6, log_partition=1)
    store = stored(tmp_path / "store", history, 1)
    expire(store, at(30))
    assert [row["group"] for row in rows_of(store, "undecoded")] == ["a"]
    assert [row["group"] for row in rows_of(store, "commits")] == ["b"]


def test_time_of_the_last_read_of_a_quiet_partition_is_kept(tmp_path: Path) -> None:
    """Nothing new was read: only its newest empty range shows that the group was silent, and not unread."""
    history = History()
    history.commit("quiet", 0, 5)
    history.read(0, (0, 1), 1, (0, 0), compacted=0)
    for minute in (*range(1, 30), 300, *range(30, 60)):
        history.read(0, (1, 1), 0, (60 * minute, 60 * minute))
        history.head(60 * minute, 10)
    store = stored(tmp_path / "store", history, 1)
    until = at(60 * 301)
    before = rows_of(store, "stale", until)
    assert [(row["status"], row["read_until"]) for row in before] == [("STALE", at(60 * 300))]
    expire(store, at(60 * 300.5))
    assert rows_of(store, "stale", until) == before
    assert rows_of(store, "lag", until)[-1]["lag"] == 5


def test_limit_in_the_future_deletes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A year that is mistyped would delete all history."""
    store = three_commits().stored_in(tmp_path / "store", "east")
    before = store.snapshot()
    command = ["history", "expire", "--store", str(tmp_path / "store"), "--older-than"]
    assert main([*command, "2999-01-01"]) == 2
    assert "this is in the future" in capsys.readouterr().err
    assert Store(store.location, "east").snapshot() == before
    assert main([*command, "2020-01-01"]) == 0
