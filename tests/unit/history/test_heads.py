"""The sampler of log ends continues after failures."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kgroups.errors import ClusterUnreachable
from kgroups.history.arrow import arrow_schema
from kgroups.history.jobs.heads import HeadSampler
from kgroups.history.load.read import read_rows
from kgroups.history.load.storage import Storage
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import HEADS


def sample(wanted: dict[str, set[int]]) -> pa.RecordBatch:
    now = datetime.now(UTC)
    rows = [
        {"sampled_at": now, "topic": topic, "partition": each, "log_start": 0, "log_end": 5}
        for topic, partitions in wanted.items()
        for each in partitions
    ]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(HEADS))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(str(tmp_path / "history"))
    store.create(Identity("cluster", "__consumer_offsets", "2026-01-01T00:00:00"))
    return store


def rows(store: Store) -> int:
    return sum(file.rows for file in store.snapshot().files(HEADS))


def test_samples_that_cannot_be_written_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    answer: list[str] = []
    sampler = HeadSampler(store, sample, 60, answer.append)
    sampler.watch([("t", 0), ("t", 1)])
    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", lambda *_: (_ for _ in ()).throw(OSError("no space left on device")))
        sampler._take_sample()
        sampler._flush()
    assert answer == ["log ends are not written: no space left on device"]
    assert rows(store) == 0
    sampler._take_sample()
    sampler._flush()
    assert rows(store) == 4


def test_failed_sample_is_logged_and_omitted(store: Store) -> None:
    def unreachable(wanted: dict[str, set[int]]) -> pa.RecordBatch:
        raise ClusterUnreachable("nobody answers")

    answer: list[str] = []
    with HeadSampler(store, unreachable, 60, answer.append) as sampler:
        sampler.watch([("t", 0)])
    assert answer == ["no sample of log ends: nobody answers"]
    assert rows(store) == 0


class Killed(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("seed", range(60))
def test_each_sample_on_disk_is_stored_once_by_the_next_collector(
    store: Store, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Collectors are killed before or after any write to the store. What was on disk is there, once."""
    chance = random.Random(seed)
    held: set[datetime] = set()
    taken: list[datetime] = []
    clock = datetime(2026, 1, 1, tzinfo=UTC)

    def next_sample(wanted: dict[str, set[int]]) -> pa.RecordBatch:
        # Clocks also go back: nothing may depend on the order of samples.
        taken.append(clock + timedelta(seconds=chance.randrange(10**6), microseconds=len(taken)))
        rows = [{"sampled_at": taken[-1], "topic": "t", "partition": each} for each in sorted(wanted["t"])]
        return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(HEADS))

    for _ in range(6):
        writes = itertools.count()
        last = chance.randrange(12)
        with monkeypatch.context() as patch, suppress(Killed):
            for name in ("create", "replace", "delete"):
                patch.setattr(Storage, name, dying(getattr(Storage, name), writes, last))
            sampler = HeadSampler(store, next_sample, 60, lambda line: None)
            sampler.watch([("t", 0), ("t", 1)])
            sampler._recover()
            for _ in range(chance.randrange(8)):
                sampler._take_sample()
                held.add(taken[-1])
                if chance.random() < 0.3:
                    sampler._flush()
    HeadSampler(store, sample, 60, lambda line: None)._recover()

    found = Counter(
        row["sampled_at"]
        for file in store.snapshot().files(HEADS)
        for batch in read_rows(store.storage, HEADS, file.path)
        for row in batch.to_pylist()
    )
    assert set(found.values()) <= {2}  # partitions
    assert held <= found.keys() <= set(taken)
    assert not store.storage.names("_samples")


def dying(real: Callable[..., Any], writes: Iterator[int], last: int) -> Callable[..., Any]:
    """Return a write to the store that the process does not survive if it is the last one: before it, or after it."""

    def call(*arguments: Any, **options: Any) -> Any:
        number = next(writes)
        if number == last and number % 2:
            raise Killed
        result = real(*arguments, **options)
        if number == last:
            raise Killed
        return result

    return call


def test_sampler_that_was_asleep_does_not_add_what_the_next_one_has_added(store: Store) -> None:
    asleep = HeadSampler(store, sample, 60, lambda line: None)
    asleep.watch([("t", 0)])
    asleep._take_sample()
    answer: list[str] = []
    HeadSampler(store, sample, 60, answer.append)._recover()
    assert answer == ["added 1 sample of log ends that a killed collector left"]
    asleep._flush()
    assert rows(store) == 1
    asleep._take_sample()
    asleep._flush()
    assert rows(store) == 2


def test_damaged_samples_are_named_and_left(store: Store) -> None:
    store.storage.replace("_samples/cluster/1.arrow", b"not Arrow")
    answer: list[str] = []
    HeadSampler(store, sample, 60, answer.append)._recover()
    (line,) = answer
    assert line.startswith(f"samples of log ends are lost: {store.shown}/_samples/cluster/1.arrow is damaged: ")
    assert "\n" not in line
    assert store.storage.names("_samples")
