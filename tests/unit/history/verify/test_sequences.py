"""Collect, merge, expire, materialize, and decode again, in any order: all checks are ok, and rows are right."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from kgroups.history.arrow import arrow_schema, to_batch
from kgroups.history.extract.coverage import RangeCounter
from kgroups.history.extract.ranges import Range
from kgroups.history.jobs.verify import verify
from kgroups.history.load.manifest import BATCH, Entry, Snapshot
from kgroups.history.load.records import entry_of, write_records
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import COVERAGE, RECORDS
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.decode_again import decode_again
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.materialize import materialize
from kgroups.history.upkeep.rewrite import ATTEMPTS, Replaced, Rewriter
from kgroups.history.verify.result import OK
from tests.fakes.history import Row, ordered, rows_of
from tests.fakes.offset_records import commit_key, commit_value, key_bytes, value_bytes

START = datetime(2025, 10, 9, 8, tzinfo=UTC)
GROUP = {"protocolType": "consumer", "protocol": "range", "leader": "m", "currentStateTimestamp": 1_760_000_000_000}
PARTITIONS = (3, 8)


class Log:
    """What brokers write to two partitions of the log: mostly forward in time, with holes and tombstones."""

    def __init__(self, chance: random.Random) -> None:
        self._chance, self._ends, self.seconds = chance, dict.fromkeys(PARTITIONS, 0), 0.0

    def read(self) -> tuple[list[Range], list[Row]]:
        """Return new ranges, and the records in them; some have none."""
        ranges, rows = [], []
        for partition in PARTITIONS:
            start = self._ends[partition]
            for _ in range(self._chance.randrange(30)):
                self.seconds += self._chance.uniform(0, 40)
                self._ends[partition] += self._chance.choice((1, 1, 1, 1, 2, 5))
                back = self._chance.choice((0, 0, 0, 0, 0, 0, 0, 200))
                time = START + timedelta(milliseconds=round((self.seconds - back) * 1000))
                key, value = self._record(f"{partition}-{self._chance.randrange(4)}")
                place = {"log_partition": partition, "log_offset": self._ends[partition] - 1, "log_time": time}
                rows.append(place | {"key": key, "value": value})
            if self._ends[partition] > start:
                ranges.append(Range(partition, start, self._ends[partition]))
        return ranges, rows

    def _record(self, group: str) -> tuple[bytes, bytes | None]:
        if self._chance.random() < 0.2:
            members = self._chance.randrange(2)
            generation = self._chance.randrange(1, 9)
            value = value_bytes(2, 3, GROUP | {"generation": generation, "members": []}) if members else None
            return key_bytes(2, group), value
        key = commit_key(group, "t", self._chance.randrange(3))
        return key, commit_value(offset=self._chance.randrange(1000)) if self._chance.random() < 0.8 else None


def collect(store: Store, ranges: list[Range], rows: list[Row], sampled_at: datetime) -> Entry:
    """Commit records as the collector does."""
    counter = RangeCounter(ranges)
    records = pa.RecordBatch.from_pylist(rows, arrow_schema(RECORDS))
    result = write_records(store.storage, store.cluster, counter.count(iter([records])))
    ends = {piece.partition: piece.stop for piece in ranges}
    facts = [
        {**fact, "sampled_at": sampled_at}
        | dict.fromkeys(("last_stable_offset", "high_watermark"), ends[fact["log_partition"]])
        for fact in counter.facts(lambda holes: dict.fromkeys(holes))
    ]
    with store.writer() as writer:
        writer.add(COVERAGE, to_batch(COVERAGE, facts))
    positions = store.snapshot().positions | ends
    return store.commit(entry_of(BATCH, [result], writer.files, positions))


def created(location: Path) -> Store:
    store = Store(str(location))
    store.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1"))
    return store


class Twins:
    """A store with maintenance, and one that only collects the same, which knows what is right."""

    def __init__(self, location: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self._log = Log(self.chance)
        self.store, self.oracle = created(location / "store"), created(location / "oracle")
        self.limit = START - timedelta(days=1)

    def collect(self) -> None:
        ranges, rows = self._log.read()
        sampled_at = START + timedelta(seconds=self._log.seconds + self.chance.choice((1, 300)))
        for store in (self.store, self.oracle) if ranges else ():
            collect(store, ranges, rows, sampled_at)

    def expire(self) -> None:
        """Expire up to any time: also of a record, and before the last limit."""
        times = [row["log_time"] for row in rows_of(self.oracle, "records")]
        between = START + timedelta(seconds=self.chance.uniform(0, self._log.seconds))
        limit = self.chance.choice([between, *self.chance.sample(times, min(1, len(times)))])
        expire(self.store, limit)
        self.limit = max(self.limit, limit)

    def merge(self) -> None:
        compact(self.store, small=self.chance.random() < 0.5)

    def materialize(self) -> None:
        materialize(self.store)

    def decode_again(self) -> None:
        decode_again(self.store)

    def check(self) -> None:
        assert [each for each in verify(Store(self.store.location), None) if each.status != OK] == []
        found, written = (
            {(row["log_partition"], row["log_offset"]): row for row in rows_of(store, "records")}
            for store in (self.store, self.oracle)
        )
        later = {place: row for place, row in written.items() if row["log_time"] >= self.limit}
        assert later.items() <= found.items() <= written.items()
        latest, rates = (
            [ordered(rows_of(store, table)) for store in (self.store, self.oracle)]
            for table in ("latest_offsets", "commit_rate")
        )
        assert latest[0] == latest[1]
        # The step from the last commit before the limit belongs to no bucket: records in between may be deleted.
        counts = [
            [
                {name: value for name, value in row.items() if name not in ("progress", "rewound")}
                for row in rows
                if row["bucket"] >= self.limit
            ]
            for rows in rates
        ]
        assert counts[0] == counts[1]


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_steps_keeps_every_check_and_every_row(seed: int, tmp_path: Path) -> None:
    twins = Twins(tmp_path, seed)
    steps = [Twins.collect] * 4 + [Twins.expire] * 3 + [Twins.merge, Twins.materialize, Twins.decode_again]
    twins.collect()
    for _ in range(5):
        for step in twins.chance.choices(steps, k=3):
            step(twins)
        twins.check()


def meet_merges(monkeypatch: pytest.MonkeyPatch, twins: Twins, times: int) -> None:
    """Let this number of maintenance commits find that a merge has replaced their input."""
    commit, left = Rewriter.commit, iter(range(times))

    def late(self: Rewriter, new: Entry, snapshot: Snapshot) -> None:
        if next(left, None) is not None:
            monkeypatch.setattr(Rewriter, "commit", commit)
            twins.collect()
            compact(Store(twins.store.location))
            monkeypatch.setattr(Rewriter, "commit", late)
        commit(self, new, snapshot)

    monkeypatch.setattr(Rewriter, "commit", late)


@pytest.mark.parametrize("step", [Twins.expire, Twins.materialize, Twins.decode_again])
def test_step_that_meets_a_merge_is_repeated(
    step: Callable[[Twins], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twins = Twins(tmp_path, seed=1)
    for _ in range(3):
        twins.collect()
    before = twins.store.snapshot().next
    meet_merges(monkeypatch, twins, ATTEMPTS - 1)
    step(twins)
    assert twins.store.snapshot().next >= before + ATTEMPTS
    twins.check()


def test_step_that_always_meets_a_merge_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twins = Twins(tmp_path, seed=1)
    for _ in range(3):
        twins.collect()
    meet_merges(monkeypatch, twins, ATTEMPTS)
    with pytest.raises(Replaced, match=f"other processes merged it meanwhile, {ATTEMPTS} times"):
        twins.expire()
    twins.check()
