"""How long the reader of the log waits for records: a scripted consumer answers here."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable
from kgroups.history.extract import reader
from kgroups.history.extract.ranges import Range

SETTINGS = ClientSettings((("b", 1),), timeout=5)


def message(offset: int) -> Mock:
    answer = {"error": None, "partition": 0, "offset": offset, "timestamp": (1, 0), "key": b"k", "value": None}
    return Mock(**{f"{name}.return_value": value for name, value in answer.items()})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("kgroups.history.extract.reader.time.monotonic", lambda: now[0])
    return now


def reading(monkeypatch: pytest.MonkeyPatch, clock: list[float], *polls: list[Any]) -> Iterator[Any]:
    """Of offsets 0 and 1; each look for records takes a second."""
    script = iter(polls)

    def consume(*_: object) -> list[Any]:
        clock[0] += 1
        return next(script)

    monkeypatch.setattr(reader, "make_client", lambda *_: Mock(consume=consume))
    return reader.read(SETTINGS, [Range(0, 0, 2)])


def test_slow_consumer_of_batches_is_not_a_silent_broker(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    found = []
    for batch in reading(monkeypatch, clock, [message(0)], [], [message(1)]):
        found += batch["log_offset"].to_pylist()
        clock[0] += 60
    assert found == [0, 1]


def test_silent_broker_is_unavailable(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    with pytest.raises(BrokerUnavailable, match="nothing came for 5 s of partition 0"):
        list(reading(monkeypatch, clock, [message(0)], *[[]] * 6))


@pytest.mark.parametrize("last", [[message(1)], []])
def test_garbage_collector_is_paused_while_records_are_read_and_runs_while_they_are_used(
    monkeypatch: pytest.MonkeyPatch, clock: list[float], last: list[Any]
) -> None:
    running: list[bool] = []

    def partition() -> int:
        running.append(gc.isenabled())
        return 0

    first = message(0)
    first.partition = partition
    batches = reading(monkeypatch, clock, [first], last, *[[]] * 6)
    next(batches)
    assert running == [False]
    assert gc.isenabled()
    if last:
        assert len(list(batches)) == 1
    else:
        with pytest.raises(BrokerUnavailable):
            list(batches)
    assert gc.isenabled()
