"""A response costs no more time and memory than its budget."""

from __future__ import annotations

import struct

import pytest
from pytest_mock import MockerFixture

from kgroups.errors import DecodingTimeout, ResponseTooLarge
from kgroups.protocol import compression
from kgroups.protocol.apis.describe_groups import DescribeGroups
from kgroups.protocol.apis.fetch import Fetch, Fetched
from kgroups.protocol.apis.list_groups import ListGroups
from kgroups.protocol.budget import EVERY, Budget, current_budget, spending
from kgroups.protocol.compression import Codec, decompress
from kgroups.protocol.first_records import first_records
from kgroups.protocol.framing import decode_response
from kgroups.protocol.record_entries import read_entries
from tests.fakes.record_batches import batch, compress, log_bytes
from tests.unit.protocol.test_linear import connect_work, i16, i32, text


class Patience:
    """A clock that expires after it has been read a number of times."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def remaining(self) -> float:
        self.looks -= 1
        return 1.0 if self.looks >= 0 else 0.0


def listed(count: int) -> bytes:
    return i32(1) + i16(0) + i32(count) + (text("g") + text("consumer")) * count


def with_members(count: int, assignment: bytes) -> bytes:
    member = text("m") + text("c") + text("h") + i32(0) + i32(len(assignment)) + assignment
    group = i16(0) + text("g") + text("Stable") + text("connect") + text("compatible") + i32(count) + member * count
    return i32(1) + i32(1) + group


def test_budget_turns_yields_every_index() -> None:
    budget = Budget(Patience(1_000_000))
    for count in (0, 1, EVERY - 1, EVERY, EVERY + 1, 5 * EVERY, 3):
        assert len(list(budget.turns(count))) == count


def test_budget_stops_long_array_when_time_is_over() -> None:
    call = ListGroups()
    assert len(decode_response(call, 0, listed(5 * EVERY), Budget(Patience(100))).entries) == 5 * EVERY
    with pytest.raises(DecodingTimeout):
        decode_response(call, 0, listed(5 * EVERY), Budget(Patience(2)))
    assert len(decode_response(call, 0, listed(5), Budget(Patience(0))).entries) == 5, "the clock is not read"


def test_budget_counts_short_arrays_together() -> None:
    call = DescribeGroups(("g",))
    frame = with_members(EVERY // 10, connect_work(50))
    decode_response(call, 0, frame, Budget(Patience(1_000)))
    with pytest.raises(DecodingTimeout):  # and not a member whose bytes are said to be odd
        decode_response(call, 0, with_members(3, connect_work(EVERY)), Budget(Patience(1)))


def test_budget_is_reset_after_its_response() -> None:
    with spending(Budget(Patience(0))):
        pass
    current_budget().check()


@pytest.mark.parametrize("codec", [codec for codec in Codec if codec])
def test_budget_of_unpacked_bytes_is_shared_by_batches(codec: Codec) -> None:
    data = log_bytes([batch(at, [(at, 1)], codec=codec, value=bytes(30_000)) for at in range(4)])
    budget = Budget(unpacked=130_000)
    assert len(read_entries(data, 0, budget=budget).entries) == 4
    assert 120_000 < budget.spent < 121_000
    with pytest.raises(ResponseTooLarge, match="one response unpack to more than 110,000 bytes"):
        read_entries(data, 0, budget=Budget(unpacked=110_000))
    with pytest.raises(ResponseTooLarge, match="one response unpack to more than 29,000 bytes"):
        first_records(data, [3], (), Budget(unpacked=29_000))


def test_budget_is_spent_by_decompression_bomb(mocker: MockerFixture) -> None:
    mocker.patch.object(compression, "LARGEST", 10_000)
    budget = Budget(unpacked=1_000_000)
    with pytest.raises(ResponseTooLarge, match="a batch unpacks"):
        decompress(Codec.ZSTD, compress(Codec.ZSTD, bytes(10_001)), budget)
    with pytest.raises(ResponseTooLarge, match="one response"):
        decompress(Codec.ZSTD, compress(Codec.ZSTD, bytes(1)), budget)


def test_budget_stops_unpacking_when_time_is_over() -> None:
    data = log_bytes([batch(at, [(at, 1)], codec=Codec.ZSTD) for at in range(10)])
    with pytest.raises(DecodingTimeout):
        read_entries(data, 0, budget=Budget(Patience(3)))
    with pytest.raises(DecodingTimeout):
        first_records(data, [9], (), Budget(Patience(3)))


def test_memory_error_is_not_reported_as_corrupt_data(mocker: MockerFixture) -> None:
    mocker.patch.dict(compression._DECOMPRESS, {Codec.ZSTD: mocker.Mock(side_effect=MemoryError)})
    with pytest.raises(MemoryError):
        decompress(Codec.ZSTD, b"x")


def test_fetch_response_larger_than_requested_is_rejected() -> None:
    first, second = (batch(at, [(at, 1)], value=bytes(900)).data for at in (0, 1))

    def response(records: bytes) -> bytes:
        partition = i32(0) + i16(0) + bytes(16) + i32(0) + i32(len(records)) + records
        return struct.pack(">i", 1) + bytes(4) + i32(1) + text("t") + i32(1) + partition

    small = Fetch({"t": {0: 0}}, 1000)
    for records in (first, first + second[: 1000 - len(first)]):
        assert isinstance(decode_response(small, 4, response(records))["t", 0], Fetched)
    assert decode_response(Fetch({"t": {0: 0}}, 100), 4, response(first)), "one batch, as brokers give it alone"
    for records in (first + second, b"\0" * 1001):
        with pytest.raises(ResponseTooLarge, match="1,000 were requested"):
            decode_response(small, 4, response(records))
