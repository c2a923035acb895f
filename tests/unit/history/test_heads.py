"""The sampler of log ends continues after failures."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from kgroups.errors import ClusterUnreachable
from kgroups.history.arrow import arrow_schema
from kgroups.history.jobs.heads import HeadSampler
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
