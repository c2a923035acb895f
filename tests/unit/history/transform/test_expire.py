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
from tests.fakes.history import History, Row, at, derived_in, hide, hide_groups, ordered, rows_of, three_commits

WINDOW = timedelta(minutes=2)
RULES = Rules(
    samples=5, storm=3, flaps=2, storm_window=WINDOW, flap_window=WINDOW, expiring_within=timedelta(days=8),
    stale_after=timedelta(minutes=2), bucket=timedelta(seconds=30),
)  # fmt: skip
COUNTS = {"from_offset", "records", "density", "missing"}
"""Columns of completeness that count what is stored."""
BEGINNINGS = {"since", "empty_since", "known_since", "state_since"}
"""Columns with the beginning of what lasts, which is before the limit if it is not after it."""

Results = dict[str, list[Row]]
"""Rows by derived table."""


def random_groups(seed: int, logs: int = 12, actions: int = 80) -> RandomGroups:
    """Return a history with sweeps, and coverage in batches."""
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
    made.history.rows["coverage"] = list(in_batches(made, chance))
    return made


def in_batches(made: RandomGroups, chance: random.Random) -> Iterator[Row]:
    """Yield the ranges as several batches read them, some of which did not read all partitions to their end."""
    times = [at(second) for second in (*sorted(chance.sample(range(START, END), 6)), END + 1, END + 2)]
    for log in made.logs:
        written = [row for table in LOG_TABLES for row in made.history.rows[table]]
        written = [row for row in written if row["log_partition"] == log.number]
        waiting = [row for row in made.history.rows["coverage"] if row["log_partition"] == log.number]
        reached = 0
        for time in times:
            end = max((row["log_offset"] + 1 for row in written if row["log_time"] < time), default=0)
            is_hung = log.hung_at is not None and at(log.hung_at) < time
            looks = {"sampled_at": time, "last_stable_offset": end, "high_watermark": end + is_hung}
            looks |= {"unread_since": at(log.hung_at) if log.hung_at is not None and is_hung else None}
            read = 0
            while waiting and (waiting[0]["last_time"] or at(END)) < time and chance.random() < 0.8:
                row = waiting.pop(0) | looks
                reached, read = row["to_offset"], read + 1
                yield row | {"last_stable_offset": max(end, reached)}
            if not read and reached >= end and chance.random() < 0.5:
                yield looks | {"log_partition": log.number, "from_offset": reached, "to_offset": reached, "records": 0}


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


def ended_groups(history: History, limit: datetime) -> set[str]:
    """Return the groups of which nothing is in effect: all records are old, and the last of each key a tombstone."""
    last: dict[object, Row] = {}
    undecoded = [row for row in history.rows["undecoded"] if row["record_type"] == 1]
    for table, rows in ((name, history.rows[name]) for name in LOG_TABLES):
        for row in [*rows, *undecoded] if table == "commits" else rows:
            key = key_of(table, row)
            if key not in last or last[key]["log_offset"] < row["log_offset"]:
                last[key] = row
    swept = [row for table in ("sweeps", "baseline") for row in history.rows[table] if row["swept_at"] < limit]
    complete_at = max((row["swept_at"] for row in swept if row["complete"]), default=at(START - 1))
    alive = {row["group"] for row in last.values() if not row["tombstone"] or row["log_time"] >= limit}
    alive |= {row["group"] for row in history.rows["baseline"] if row["swept_at"] >= complete_at}
    whole = {row["group"]: row["log_offset"] for row in history.rows["group_metadata"]}
    whole |= {row["group"]: row["log_offset"] for row in history.rows["epochs"] if is_deletion(row)}
    others = [row for row in history.rows["undecoded"] if row["record_type"] != 1]
    alive |= {row["group"] for row in others if row["log_offset"] > whole.get(row["group"], -1)}
    return {row["group"] for row in last.values()} - alive


def is_deletion(row: Row) -> bool:
    return row["subject"] == "group" and row["tombstone"]


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
            assert row == whole[group] | {"complete": False}


def compare_complete(expected: Results, found: Results, name: str, limit: datetime) -> None:
    """Compare ``complete``, and remove it: it may be lost of what began before the limit."""
    for before, after in zip(expected[name], found[name], strict=True):
        was, remains = before.pop("complete"), after.pop("complete")
        assert remains == was or (was and before["since"] <= limit), (name, before)


@pytest.mark.parametrize("seed", range(1, 9))
def test_results_after_the_limit_are_the_same(seed: int, tmp_path: Path) -> None:
    """They have the same rows and values; only what began before the limit may be less certain, never more."""
    made, chance = random_groups(seed, 4), random.Random(seed)
    hide(made.history, chance)
    hide_groups(made.history, chance)
    store = stored(tmp_path / "store", made.history)
    for limit in sorted(at(second) for second in (chance.uniform(START, END / 2), chance.uniform(0, END))):
        expire(store, limit)
        rest = content(store)
        ended = ended_groups(made.history, limit)
        expected, found = (dict(results(history, limit, ended)) for history in (made.history, rest))
        compare_begun(expected, found, made.history, limit, ended)
        compare_complete(expected, found, "memberships", limit)
        for name in DERIVED.keys() - {"anomalies"}:
            assert found[name] == expected[name], name
        # Storms and flapping begin before they are found.
        expected, found = (dict(results(history, limit + WINDOW, ended)) for history in (made.history, rest))
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


def test_progress_of_the_first_commit_after_the_limit_is_kept(tmp_path: Path) -> None:
    """Also after a second expiration, and a later batch. The last commit before known_since is not that of its key."""
    history = History()
    for number, seconds in enumerate((1, 20, 100, 200)):
        history.commit("a", seconds, 10 * number)
    history.read(0, (0, 3), 3, (1, 100), compacted=1, compacted_to=1, whole_since=at(20))
    history.read(0, (3, 4), 1, (200, 200), compacted=0)
    store = stored(tmp_path / "store", history, 1)
    steps = [(row["bucket"], row["progress"]) for row in rows_of(store, "commit_rate")]
    assert steps[-1] == (at(180), 10)
    for limit in (110, 120):
        expire(store, at(limit))
        assert [(row["bucket"], row["progress"]) for row in rows_of(store, "commit_rate")][-1:] == steps[-1:]
    assert [row["linked_since"] for row in rows_of(store, "coverage")] == [at(20), None]
    assert [row["known_since"] for row in rows_of(store, "completeness")] == [at(120)]


def test_batch_that_did_not_read_all_partitions_remains_incomplete(tmp_path: Path) -> None:
    """Of its ranges, only that of the other partition is kept, which it read to the end."""
    history = History()
    for second in (1, 50):
        history.commit("a", second, second)
    for second in (2, 51, 52):
        history.commit("b", second, second, log_partition=1)
    history.read(0, (0, 1), 1, (1, 5), compacted=0)
    history.read(1, (0, 1), 1, (2, 5), compacted=0)
    history.read(0, (1, 2), 1, (50, 100), compacted=0)
    history.read(1, (1, 2), 1, (51, 100), compacted=0, last_stable_offset=3)
    history.read(1, (2, 3), 1, (52, 140), compacted=0, last_stable_offset=4)
    for row in history.rows["coverage"]:
        row["last_time"] = row["first_time"]
    store = stored(tmp_path / "store", history, 1)
    until = {row["log_partition"]: row["read_until"] for row in rows_of(store, "read_logs", at(500))}
    assert until == {0: at(100), 1: at(52), None: at(5)}
    expire(store, at(150))
    assert {row["log_partition"]: row["read_until"] for row in rows_of(store, "read_logs", at(500))} == until


def test_limit_in_the_future_deletes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A year that is mistyped would delete all history."""
    store = three_commits().stored_in(tmp_path / "store", "east")
    before = store.snapshot()
    command = ["history", "expire", "--store", str(tmp_path / "store"), "--older-than"]
    assert main([*command, "2999-01-01"]) == 2
    assert "this is in the future" in capsys.readouterr().err
    assert Store(store.location, "east").snapshot() == before
    assert main([*command, "2020-01-01"]) == 0
