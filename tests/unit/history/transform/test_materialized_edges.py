"""Queries at the edges of what is materialized: for each rule of materializing, a log in which leaving it out shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kgroups.history import materialized
from kgroups.history.load.manifest import BATCH, HEADS_SAMPLED, Entry
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import COMMITS, COVERAGE, GROUP_METADATA, HEADS, MEMBERS
from kgroups.history.transform.definitions import BEGINNING, Span
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.history import History, at
from tests.unit.history.transform.test_materialize import RULES, answers, full

NAMES = ["lag", "stale", "latest_offsets", "commit_rate", "verdicts", "anomalies", "rebalances", "expiring"]
LOG = (COMMITS, GROUP_METADATA, MEMBERS)
Step = Callable[[History], None]


@pytest.fixture(autouse=True)
def samples_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialized, "SETTLED", timedelta(0))


def store_of(location: Path, *steps: Step) -> Store:
    """Return a store to which these steps were added."""
    store = Store(str(location))
    store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    for step in steps:
        add(store, step)
    return store


def add(store: Store, step: Step, then_materialize: bool = True) -> None:
    """Add an entry with what a step writes, and another with its samples of log ends."""
    history = History()
    starts = store.snapshot().positions
    for partition, start in starts.items():
        history.hole(start, partition)
    step(history)
    rows = [row for table in LOG for row in history.rows[table.name] if table is not MEMBERS]
    stops = {row["log_partition"]: history.next_offset(row["log_partition"]) for row in rows}
    for partition, stop in stops.items():
        here = [row for row in rows if row["log_partition"] == partition]
        times = [(row["log_time"] - at(0)).total_seconds() for row in here if row["log_time"]]
        history.read(partition, (starts.get(partition, 0), stop), len(here), (min(times), max(times)))
    tables = history.arrow()
    if rows:
        with store.writer() as writer:
            for table in (*LOG, COVERAGE):
                for batch in tables[table.name].to_batches():
                    writer.add(table, batch)
        store.commit(Entry(BATCH, writer.files, len(rows), positions=starts | stops))
    if history.rows["heads"]:
        store.add(HEADS_SAMPLED, {HEADS: tables["heads"]})
    if then_materialize:
        materialize(store)


def check(store: Store, since: float | None = None, until: float = 10_000, **rules: Any) -> int:
    """Compare the answers with those from all commits; return how many commits were not read."""
    span = Span(BEGINNING if since is None else at(since), at(until))
    chosen = RULES._replace(**rules)
    expected = full(store, NAMES, span, chosen)
    found, read = answers(store, NAMES, span, chosen)
    for name in NAMES:
        assert found[name] == expected[name], name
    return sum(file.rows for file in store.snapshot().files(COMMITS)) - read


def commits(history: History, *times: float, group: str = "a", **columns: Any) -> None:
    for time in times:
        history.commit(group, time, int(time), **columns)


def steady(history: History) -> None:
    """Ten minutes with a commit every ten seconds, and a sample of the log end every two minutes, between commits."""
    commits(history, *range(0, 600, 10))
    for time in range(115, 600, 120):
        history.head(time, time + 5)


def after(start: int) -> Step:
    """The same, later."""

    def step(history: History) -> None:
        commits(history, *range(start, start + 600, 10))
        for time in range(start + 115, start + 600, 120):
            history.head(time, time + 5)

    return step


def test_steps_without_anything_special(tmp_path: Path) -> None:
    store = store_of(tmp_path, steady, after(600))
    assert check(store) > 40
    add(store, after(1200), then_materialize=False)
    assert check(store) > 40
    assert check(store, since=333) > 40
    assert check(store, until=700) == 0
    assert check(store, bucket=timedelta(seconds=90)) == 0
    materialize(store)
    assert check(store) > 80


def test_sample_that_was_written_late(tmp_path: Path) -> None:
    for is_new_step in (False, True):
        store = store_of(tmp_path / str(is_new_step), steady)
        assert check(store) > 10
        add(store, lambda history: history.head(35, 40), then_materialize=False)
        assert check(store) == 0
        if is_new_step:
            add(store, after(600))
            assert check(store) > 40


def test_samples_that_are_still_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(materialized, "SETTLED", timedelta(seconds=300))
    store = store_of(tmp_path, lambda history: commits(history, *range(0, 600, 10)))
    add(store, lambda history: history.head(415, 420), then_materialize=False)
    assert check(store) > 10


def test_commits_at_the_time_of_a_sample_and_of_a_bucket(tmp_path: Path) -> None:
    def step(history: History) -> None:
        for time in range(0, 600, 10):
            history.commit("a", time, time)
            history.commit("b", time, time + 1)
        for time in range(60, 600, 60):
            history.head(time, time + 5)

    store = store_of(tmp_path, step, lambda history: commits(history, 600, 600, 600, 610, 660, 720))
    assert check(store) > 40


def test_tombstones_and_rewinds(tmp_path: Path) -> None:
    def step(history: History) -> None:
        for time in range(0, 600, 10):
            offset = None if time == 105 - 5 else 5 if time in (200, 430) else time
            history.commit("a", time, offset)
            history.commit("gone", time, time if time < 300 else None)
        history.head(595, 700)

    store = store_of(tmp_path, step, lambda history: commits(history, 3, group="b", log_partition=1))
    assert check(store) > 40

    def again(history: History) -> None:
        history.commit("a", 610, 7)
        history.commit("gone", 620, 9)

    add(store, again)
    assert check(store) > 40
    add(store, after(640))
    assert check(store) > 40


def test_groups_that_stopped_before_the_boundary(tmp_path: Path) -> None:
    def step(history: History) -> None:
        for number, group in enumerate(("b", "c", "d")):
            for time in range(0, 100, 10):
                history.commit(group, time + number, time, partition=time % 40 // 10)
        commits(history, *range(100, 600, 10))

    store = store_of(tmp_path, step, after(600))
    assert check(store) > 20
    add(store, lambda history: history.head(1300, 2000))
    assert check(store) > 20


def test_order_of_the_log_is_not_that_of_time(tmp_path: Path) -> None:
    def step(history: History) -> None:
        for time in range(0, 600, 10):
            history.commit("a", time + 25 * (time % 30 == 0), time)
            history.commit("b", time - 25 * (time % 50 == 20), time)
        for time in range(115, 600, 120):
            history.head(time, time + 5)

    check(store_of(tmp_path, step, after(600)))


def test_latest_commit_is_not_the_last_one(tmp_path: Path) -> None:
    def step(history: History) -> None:
        for time in (10, 400, 20, 30):
            history.commit("b", time, time)
            history.commit("b", time, time, partition=1)
        commits(history, *range(400, 600, 10))

    check(store_of(tmp_path, step, after(600)))


def test_commits_next_to_a_rebalance(tmp_path: Path) -> None:
    def step(history: History) -> None:
        for time in range(0, 600, 7):
            history.commit("a", time, time)
            if time in (49, 301, 308, 595):
                history.snapshot("a", time + 3, time + 1, ["m", f"n-{time}"])

    def later(history: History) -> None:
        history.snapshot("a", 601, 700, ["m"])
        commits(history, *range(604, 1200, 7))

    store = store_of(tmp_path, step, later)
    assert check(store) > 80


def test_a_clock_that_goes_back_between_two_steps(tmp_path: Path) -> None:
    store = store_of(tmp_path, steady)
    add(store, lambda history: commits(history, 130, 140, 610, 620), then_materialize=False)
    assert check(store) == 0
    materialize(store)
    check(store)


def test_imported_commits_with_earlier_offsets(tmp_path: Path) -> None:
    def step(history: History) -> None:
        history.hole(100)
        steady(history)

    store = store_of(tmp_path, step)
    imported = History()
    commits(imported, 700, 710)
    store.add("land", {COMMITS: imported.arrow()["commits"]})
    assert check(store) == 0
    materialize(store)
    check(store)


def test_groups_that_moved_to_another_partition_of_the_log(tmp_path: Path) -> None:
    store = store_of(tmp_path, steady)
    add(store, lambda history: commits(history, 700, 710, log_partition=1), then_materialize=False)
    assert check(store) == 0
    materialize(store)
    assert check(store) == 0

    def both(history: History) -> None:
        for partition in (0, 1):
            for time in range(0, 600, 10):
                history.commit("a", time + partition, time, log_partition=partition)

    assert check(store_of(tmp_path / "at once", both)) == 0


def test_step_over_a_commit_without_a_time_is_progress(tmp_path: Path) -> None:
    """In the bucket of the commit after it, whether that is in the same entry or in the next."""

    def untimed(history: History, *times: float) -> None:
        commits(history, *times)
        history.rows["commits"][-1]["log_time"] = None

    def first(history: History) -> None:
        commits(history, 10, 20)
        untimed(history, 30)
        commits(history, 70)
        untimed(history, 80)
        history.head(100, 100)

    def second(history: History) -> None:
        commits(history, 130, 200)
        history.head(260, 260)

    store = store_of(tmp_path / "store", first, second)
    check(store)
    rates = answers(store, ["commit_rate"], Span(BEGINNING, at(10_000)), RULES)[0]["commit_rate"]
    progress = {(row["bucket"] - at(0)).total_seconds(): row["progress"] for row in rates}
    assert progress == {0: 10, 60: 50, 120: 60, 180: 70}
