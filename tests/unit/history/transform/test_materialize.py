"""Queries have the same answers from what is materialized in steps as from all commits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from kgroups.cli.main import cli
from kgroups.errors import HistoryError
from kgroups.history import materialized
from kgroups.history.arrow import arrow_schema, to_batch
from kgroups.history.engine import derive, open_tables
from kgroups.history.engine.duck import DuckDB
from kgroups.history.load.manifest import BATCH, COMPACTED, HEADS_SAMPLED, MATERIALIZED, SWEEP, Entry
from kgroups.history.load.storage import Storage
from kgroups.history.load.store import Identity, Store
from kgroups.history.rules import Rules
from kgroups.history.tables import COMMITS, COVERAGE, HEADS, STORED, Table
from kgroups.history.transform.definitions import BEGINNING, DERIVED, Span, stored_tables
from kgroups.history.upkeep import materialize as steps
from kgroups.history.upkeep import rewrite
from kgroups.history.upkeep.automatic import MANY, NEW, Upkeep
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.group_protocol import END, LOG_TABLES, START
from tests.fakes.history import History, Row, at, hide, ordered
from tests.unit.history.transform.test_expire import WINDOW, random_groups

Change = Callable[[History, random.Random], None]
RULES = Rules(
    samples=5, storm=3, flaps=2, storm_window=WINDOW, flap_window=WINDOW, expiring_within=timedelta(days=8),
    stale_after=timedelta(minutes=2),
)  # fmt: skip


def batches(history: History, number: int, chance: random.Random) -> list[tuple[str, dict[Table, list[Row]]]]:
    """Return the rows of entries, in the order in which a collector adds them."""
    tables = {table.name: table for table in STORED}
    found: list[tuple[str, dict[Table, list[Row]]]] = [(BATCH, {}) for _ in range(number)]
    log = [
        (row["log_partition"], row["log_offset"], name, row)
        for name in (*LOG_TABLES, "undecoded")
        for row in history.rows[name]
    ]
    cuts: dict[int, list[int]] = {}
    for partition in {each for each, *_ in log}:
        times = sorted((offset, row["log_time"]) for each, offset, _, row in log if each == partition)
        ends = [at(START + (END - START) * batch / number - chance.random() * 60) for batch in range(1, number)]
        cuts[partition] = [
            next((offset for offset, time in times if time and time >= end), times[-1][0] + 1) for end in ends
        ]
    for partition, offset, name, row in log:
        batch = sum(offset >= cut for cut in cuts[partition])
        found[batch][1].setdefault(tables[name], []).append(row)
    for name, kind in (("heads", HEADS_SAMPLED), ("coverage", BATCH), ("baseline", SWEEP), ("sweeps", SWEEP)):
        time = "swept_at" if kind == SWEEP else "sampled_at"
        parts: dict[int, list[Row]] = {}
        for row in history.rows[name]:
            part = min(number - 1, max(0, int((row[time] - at(START)).total_seconds() * number // (END - START))))
            parts.setdefault(part, []).append(row)
        found += [(f"{batch:03} {kind}", {tables[name]: rows}) for batch, rows in parts.items()]
    parts_of_log = [(f"{batch:03} {kind}", each) for batch, (kind, each) in enumerate(found[:number])]
    entries = sorted([*parts_of_log, *found[number:]], key=lambda entry: entry[0][:3])
    return [(kind[4:], each) for kind, each in entries]


def answers(store: Store, names: list[str], span: Span, rules: Rules) -> tuple[dict[str, list[Row]], int]:
    """Return the answers, and the number of commits that were read."""
    with DuckDB() as engine:
        open_tables(engine, store, names, span, rules)
        (read,) = engine.fetch("select count(*) from commits").to_pylist()
        return {name: ordered(engine.fetch(f"select * from {name}").to_pylist()) for name in names}, *read.values()


def full(store: Store, names: list[str], span: Span, rules: Rules) -> dict[str, list[Row]]:
    snapshot = store.snapshot()
    with DuckDB() as engine:
        for table in stored_tables(names):
            if table in STORED:
                engine.load(store, table, snapshot.files(table))
        derive(engine, names, span, rules)
        return {name: ordered(engine.fetch(f"select * from {name}").to_pylist()) for name in names}


def tie(history: History, chance: random.Random) -> None:
    """Let commits be at the start of a bucket, which is a sample's time, where the order of the log allows it."""
    log = [row for name in LOG_TABLES for row in history.rows[name]]
    log.sort(key=lambda row: (row["log_partition"], row["log_offset"]))
    for before, row in pairwise(log):
        minute = row["log_time"] - (row["log_time"] - BEGINNING) % timedelta(minutes=1)
        follows = before["log_partition"] == row["log_partition"] and before["log_time"] <= minute
        if follows and "committed_offset" in row:
            row["log_time"] = minute


def disorder(history: History, chance: random.Random) -> None:
    """Let the clocks of brokers go back now and then, and write some samples at the time of a commit."""
    for row in history.rows["commits"]:
        if chance.random() < 0.05:
            row["log_time"] += timedelta(seconds=chance.choice((-150, -30, 40, 200)))
    for row, commit in zip(history.rows["heads"], chance.choices(history.rows["commits"], k=9), strict=False):
        row["sampled_at"] = commit["log_time"]


def omit_times(history: History, chance: random.Random) -> None:
    """Let some commits have no timestamp."""
    for row in history.rows["commits"]:
        if chance.random() < 0.05:
            row["log_time"] = None


def misplace(history: History, chance: random.Random) -> None:
    """Let groups move to another partition of the log, as when their number is changed."""
    for group in chance.sample(sorted({row["group"] for row in history.rows["commits"]}), 3):
        history.commit(group, END - chance.random(), 7, topic="topic-1", log_partition=chance.randrange(4))


def spans(history: History, chance: random.Random) -> Iterator[tuple[Span, Rules]]:
    """Yield what to ask: mostly everything up to now, sometimes up to a commit, or in other buckets."""
    last = max(row["log_time"] for row in history.rows["commits"] if row["log_time"])
    past = chance.choice((last, last + timedelta(microseconds=1), at(END / 2)))
    other = RULES._replace(bucket=timedelta(seconds=90))
    now = at(END + 3600)
    for until, rules in cycle(((now, RULES), (now, RULES), (past, RULES), (now, RULES), (now, other))):
        since = chance.choice((BEGINNING, at(chance.randrange(START, END)), at(60 * chance.randrange(10))))
        yield Span(min(since, until), until), rules


@pytest.mark.parametrize(
    ("seed", "change"),
    [
        pytest.param(1, None, id="as written"),
        pytest.param(2, disorder, id="disordered"),
        pytest.param(3, tie, id="tied", marks=pytest.mark.soak),
        pytest.param(103, omit_times, id="without times", marks=pytest.mark.soak),
        pytest.param(5, misplace, id="moved"),
        pytest.param(6, hide, id="undecoded"),
    ],
)
def test_answers_equal_a_full_recomputation_after_each_step(
    seed: int, change: Change | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    history = random_groups(seed, logs=4, actions=300).history
    monkeypatch.setattr(materialized, "SETTLED", timedelta(seconds=100))
    if change:
        change(history, chance)
    store = Store(str(tmp_path / "store"))
    store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    reduced = 0
    asked = spans(history, chance)
    for number, (kind, rows) in enumerate(batches(history, 6, chance)):
        store.add(kind, {table: pa.Table.from_pylist(each, arrow_schema(table)) for table, each in rows.items()})
        monkeypatch.setattr(steps, "ROWS", chance.choice((40, 4_000_000)))
        if chance.random() < 0.7:
            materialize(store)
        if chance.random() < 0.2:
            compact(store, small=chance.random() < 0.5)
        if number % 3:
            continue
        span, rules = next(asked)
        expected = full(store, list(DERIVED), span, rules)
        found, read = answers(store, list(DERIVED), span, rules)
        for name in DERIVED:
            assert found[name] == expected[name], name
        reduced += read < sum(file.rows for file in store.snapshot().files(COMMITS))
    assert reduced > 0 or change in (disorder, misplace)


def collected(location: Path, entries: int) -> Store:
    """Return a store with a commit of each of three groups in every entry."""
    store = Store(str(location))
    store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    history = History()
    for number in range(entries):
        first = 3 * number
        for group in ("a", "b", "c"):
            history.commit(group, number, 10 * number)
        history.read(0, (first, first + 3), 3, (number, number))
        history.head(number, 10 * number)
        rows = history.arrow()
        store.add(BATCH, {table: rows[table.name] for table in (COMMITS, COVERAGE, HEADS)})
        history.rows.clear()
    return store


def reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the number of files that a query reads, of the manifest and of tables."""
    found: list[str] = []

    def noted(real: Callable[[Storage, str], Any]) -> Callable[[Storage, str], Any]:
        def read(storage: Storage, name: str) -> Any:
            found.append(name)
            return real(storage, name)

        return read

    with monkeypatch.context() as patch:
        for each in ("read", "opened"):
            patch.setattr(Storage, each, noted(getattr(Storage, each)))
        answers(Store(store.location), ["stale", "lag", "commit_rate"], Span(BEGINNING, at(10_000)), RULES)
    return len(found)


def test_a_question_reads_as_many_files_of_many_entries_as_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [collected(tmp_path / str(entries), entries) for entries in (40, 200)]
    for store in stores:
        with Upkeep(store, pytest.fail, once=True):
            pass
        assert store.snapshot().materialized
    few, many = (reads(store, monkeypatch) for store in stores)
    assert max(few, many) < 20


def test_materialize_merges_the_files_of_many_entries(tmp_path: Path) -> None:
    store = collected(tmp_path, MANY)
    done = CliRunner().invoke(cli, ["history", "materialize", "--store", store.location])
    assert done.exit_code == 0, done.output
    assert [entry.kind for entry in store.snapshot().entries.values()] == [COMPACTED, MATERIALIZED]


def test_large_collection_is_not_materialized_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgroups.history.upkeep.automatic.AT_ONCE", 14)
    store, lines = collected(tmp_path, 5), list[str]()
    with Upkeep(store, lines.append, once=True):
        pass
    assert not store.snapshot().materialized
    assert lines == ["15 commits are not materialized: kgroups history materialize, for fast queries"]


def test_lasting_entries_are_materialized_during_a_collection(tmp_path: Path) -> None:
    store = collected(tmp_path, NEW - 1)
    upkeep = Upkeep(store, pytest.fail)
    assert upkeep.step() and not store.snapshot().materialized
    store.add(HEADS_SAMPLED, {HEADS: to_batch(HEADS, [{"sampled_at": at(99), "topic": "orders", "partition": 0}])})
    assert upkeep.step() and store.snapshot().materialized


def large_batch(store: Store, number: int, rows: int = 150_000, groups: int = 2_000) -> None:
    """Add an entry with ten minutes of commits: every fourth one of one group, the others of many groups."""
    index = np.arange(rows)
    group = np.where(index % 4 == 0, 0, index % groups)
    partition = (group % 10).astype(np.int32)
    offsets = np.empty(rows, np.int64)
    times = index * 600_000 // rows * 1000 + (at(600 * number) - BEGINNING) // timedelta(microseconds=1)
    positions = store.snapshot().positions
    ranges = []
    for each in range(10):
        chosen = partition == each
        start, size = positions.get(each, 0), int(chosen.sum())
        offsets[chosen] = start + np.arange(size)
        ranges.append(
            {
                "sampled_at": at(600 * (number + 1)),
                "log_partition": each,
                "from_offset": start,
                "to_offset": start + size,
                "records": size,
                "first_time": at(600 * number),
                "last_time": at(600 * (number + 1)),
                "compacted": 0,
            }
        )
    columns = {
        "log_partition": partition,
        "log_offset": offsets,
        "log_time": times,
        "group": np.char.add("some-group-with-a-long-name-", group.astype(str)),
        "topic": np.char.add("some-topic-", (index % 2).astype(str)),
        "partition": (index % 3).astype(np.int32),
        "committed_offset": offsets,
        "commit_time": times,
        "tombstone": np.zeros(rows, bool),
    }
    fields = arrow_schema(COMMITS)
    arrays = [
        pa.array(columns[field.name]).cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in fields
    ]
    commits = pa.Table.from_arrays(arrays, schema=fields)
    heads = [
        {"sampled_at": at(600 * number + second), "topic": "some-topic-1", "partition": 1, "log_end": second}
        for second in range(0, 600, 300)
    ]
    with store.writer() as writer:
        for batch in commits.to_batches(50_000):
            writer.add(COMMITS, batch)
        writer.add(COVERAGE, to_batch(COVERAGE, ranges))
        writer.add(HEADS, to_batch(HEADS, heads))
    ends = {each["log_partition"]: each["to_offset"] for each in ranges}
    store.commit(Entry(BATCH, writer.files, rows, positions=ends))


def test_large_step_needs_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path))
    store.create(Identity("cluster", "__consumer_offsets", "2026-03-01"))
    monkeypatch.setattr(rewrite, "MEMORY", "48MB")
    monkeypatch.setattr(steps, "ROWS", 20_000)
    for number in range(2):
        large_batch(store, number)
        assert materialize(store) == 150_000
    names, span = ["stale", "commit_rate"], Span(BEGINNING, at(10_000))
    found, read = answers(store, names, span, RULES)
    assert found == full(store, names, span, RULES)
    assert read < 100_000
    large_batch(store, 2)
    monkeypatch.setattr(steps, "ROWS", 4_000_000)
    with pytest.raises(HistoryError, match="the limit of 48MB of memory is not enough; nothing was changed"):
        materialize(store)


def test_expired_rows_are_no_longer_materialized(tmp_path: Path) -> None:
    store = collected(tmp_path, 5)
    assert materialize(store) == 15
    assert store.snapshot().materialized
    expire(store, at(4))
    assert not store.snapshot().materialized
    names = ["stale", "lag", "commit_rate"]
    span = Span(BEGINNING, at(10_000))
    assert answers(store, names, span, RULES)[0] == full(store, names, span, RULES)
    materialize(store)
    assert store.snapshot().materialized
    assert answers(store, names, span, RULES)[0] == full(store, names, span, RULES)
