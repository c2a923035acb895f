"""The next records at positions, from brokers that hold large batches, aborted records, and open transactions."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_mock import MockerFixture

from kgroups.admin.query import next_records as reading
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Failure
from kgroups.model.record import NextRecords
from kgroups.model.time_lag import Position
from kgroups.protocol.record_batch import Aborted
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import TRANSACTIONAL, Batch, batch, marker

START = Position("t", 0, 0)


def read(
    fake: FakeCluster, most: int, *positions: Position, isolation: Isolation = Isolation.READ_UNCOMMITTED
) -> tuple[dict[Position, NextRecords], dict[Position, Failure]]:
    async def query(admin: Any) -> Any:
        return await reading.next_records(admin.cluster, positions or (START,), most, isolation=isolation)

    found: tuple[dict[Position, NextRecords], dict[Position, Failure]] = ask(fake, query)
    return found


def cluster(*log: Batch, **rest: Any) -> FakeCluster:
    fake = FakeCluster(1)
    fake.state.topic("t", [0], end=log[-1].last + 1, logs={0: list(log)}, **rest)
    return fake


def offsets(found: NextRecords) -> list[int]:
    return [record.offset for record in found.records]


def test_next_records_span_batches_of_any_size() -> None:
    fake = cluster(batch(0, [(0, 1), (1, 2)]), batch(2, [(2, 3)], value=bytes(3_000_000)), batch(3, [(3, 4), (4, 5)]))
    found, failures = read(fake, 4)
    assert not failures
    assert offsets(found[START]) == [0, 1, 2, 3]
    assert found[START].until == 4
    assert len(found[START].records[2].value or b"") == 3_000_000


def test_next_records_of_several_positions_in_a_partition_are_independent() -> None:
    fake = cluster(*(batch(offset, [(offset, 1)]) for offset in range(10)))
    places = [Position("t", 0, offset) for offset in (0, 2, 8)]
    found, _ = read(fake, 3, *places)
    assert [offsets(found[place]) for place in places] == [[0, 1, 2], [2, 3, 4], [8, 9]]


@pytest.mark.parametrize(
    ("isolation", "received"), [(Isolation.READ_COMMITTED, [3]), (Isolation.READ_UNCOMMITTED, [0, 1, 3])]
)
def test_next_records_leave_out_markers_and_under_read_committed_aborted_records(
    isolation: Isolation, received: list[int]
) -> None:
    aborted = batch(0, [(0, 1), (1, 1)], attributes=TRANSACTIONAL, producer=7)
    fake = cluster(aborted, marker(2, 7), batch(3, [(3, 1)]), aborted=[Aborted(7, 0)])
    found, _ = read(fake, 3, isolation=isolation)
    assert offsets(found[START]) == received


def test_next_records_end_before_an_open_transaction() -> None:
    fake = cluster(batch(0, [(0, 1)]), batch(1, [(1, 1)], attributes=TRANSACTIONAL, producer=7), stable=1)
    found, _ = read(fake, 2, isolation=Isolation.READ_COMMITTED)
    assert (offsets(found[START]), found[START].until) == ([0], 1)


def test_next_records_that_do_not_fit_into_memory_are_a_failure(mocker: MockerFixture) -> None:
    mocker.patch.object(reading, "LIMIT", 1_000)
    fake = cluster(*(batch(offset, [(offset, 1)], value=bytes(400)) for offset in range(9)))
    found, failures = read(fake, 3)
    assert not found
    assert failures[START].message == reading.TOO_LARGE
