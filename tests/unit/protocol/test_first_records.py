"""First records in every log format and codec."""

from __future__ import annotations

import pytest

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.compression import Codec
from kgroups.protocol.first_records import Record, Scan, first_records
from kgroups.protocol.record_batch import Aborted
from tests.fakes.record_batches import TRANSACTIONAL, Batch, batch, log_bytes, marker, message, message_set

THREE = [(10, 1000), (11, 1003), (12, 1002)]


def scan(*batches: Batch, at: int = 10, aborted: tuple[Aborted, ...] = ()) -> Scan:
    return first_records(log_bytes(batches), [at], aborted)


@pytest.mark.parametrize(("at", "time"), [(10, 1000), (11, 1003), (12, 1002), (3, 1000)])
@pytest.mark.parametrize("codec", Codec)
def test_first_record_of_a_batch_at_or_after_the_offset(codec: Codec, at: int, time: int) -> None:
    assert scan(batch(10, THREE, codec=codec), at=at).found[at].timestamp == time


def test_first_record_in_snappy_without_java_framing() -> None:
    assert scan(batch(10, THREE, codec=Codec.SNAPPY, xerial=False), at=11).found == {11: Record(11, 1003)}


def test_first_record_with_log_append_time() -> None:
    assert scan(batch(10, THREE, append_time=7777), at=11).found == {11: Record(11, 7777)}


def test_first_record_without_timestamp() -> None:
    assert scan(batch(10, [(10, -1)])).found == {10: Record(10, None)}


def test_first_record_skips_transaction_markers() -> None:
    assert scan(marker(10, 5)) == Scan({}, 11)
    assert scan(marker(10, 5), batch(11, [(11, 3)])).found == {10: Record(11, 3)}


def test_first_record_after_compaction_gaps() -> None:
    first = batch(8, [(8, 1), (15, 2)], last=17)
    assert scan(first).found == {10: Record(15, 2)}
    assert scan(first, at=16) == Scan({}, 18)
    assert scan(batch(8, [], last=17)) == Scan({}, 18)
    assert scan(batch(40, [(40, 4)])).found == {10: Record(40, 4)}


def test_first_record_skips_aborted_transactions_only() -> None:
    log = (
        batch(10, [(10, 1)], producer=5, attributes=TRANSACTIONAL),
        batch(11, [(11, 2)], producer=5, attributes=TRANSACTIONAL),
        marker(12, 5),
        batch(13, [(13, 3)], producer=5, attributes=TRANSACTIONAL),
        marker(14, 5),
    )
    assert scan(*log, aborted=(Aborted(5, 10),)).found == {10: Record(13, 3)}
    assert scan(*log, aborted=(Aborted(5, 2), Aborted(5, 13))) == Scan({}, 15)
    assert scan(*log, aborted=(Aborted(5, 13),)).found == {10: Record(10, 1)}
    assert scan(*log, aborted=(Aborted(6, 10),)).found == {10: Record(10, 1)}
    assert scan(*log).found == {10: Record(10, 1)}


def test_first_record_outside_transactions_is_not_aborted() -> None:
    assert scan(batch(10, [(10, 1)], producer=5), aborted=(Aborted(5, 9),)).found == {10: Record(10, 1)}


def test_first_records_of_several_offsets() -> None:
    data = log_bytes([batch(10, THREE), marker(13, 5), batch(20, [(20, 9), (25, 8)])])
    found, until = first_records(data, [25, 10, 13, 12, 26])
    assert (found, until) == (
        {10: Record(10, 1000), 12: Record(12, 1002), 13: Record(20, 9), 25: Record(25, 8)},
        26,
    )


@pytest.mark.parametrize("kept", [0, 8, 12, 16, 17, 40, 60, -1])
def test_first_record_ignores_truncated_batch(kept: int) -> None:
    whole = batch(10, THREE).data
    assert first_records(whole[:kept], [10]) == Scan({}, 10)
    before = batch(5, [(5, 1)]).data
    assert first_records(before + whole[:kept], [5, 10]).found == {5: Record(5, 1)}


@pytest.mark.parametrize("at", [10, 11, 12])
def test_first_record_in_format_1(at: int) -> None:
    log = [message(offset, time) for offset, time in THREE]
    assert scan(*log, at=at).found == {at: Record(*THREE[at - 10])}


def test_first_record_in_format_0_has_no_timestamp() -> None:
    assert scan(message(9, None), message(11, None)).found == {10: Record(11, None)}


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
@pytest.mark.parametrize("key", [None, b"key"])
def test_first_record_in_compressed_format_1(codec: Codec, key: bytes | None) -> None:
    holes = [(10, 1000), (12, 1002), (15, 1005)]
    assert scan(message_set(holes, codec, key=key), at=11).found == {11: Record(12, 1002)}
    assert scan(message_set(holes, codec, key=key), at=16) == Scan({}, 16)
    assert scan(message_set(holes, codec, append_time=5), at=11).found == {11: Record(12, 5)}


def test_first_record_in_log_of_mixed_formats() -> None:
    log = (message(9, None), message_set([(10, 3)], Codec.GZIP), batch(11, [(11, 4)]))
    assert [scan(*log, at=at).found[at].timestamp for at in (9, 10, 11)] == [None, 3, 4]


def changed(made: Batch, at: int, data: bytes) -> bytes:
    return made.data[:at] + data + made.data[at + len(data) :]


@pytest.mark.parametrize(
    ("data", "printed"),
    [
        (changed(batch(10, THREE), 16, b"\3"), "format 3"),
        (changed(batch(10, THREE), 8, b"\0\0\0\3"), "a batch of 3 bytes"),
        (changed(batch(10, THREE), 8, b"\xff\xff\xff\xff"), "a batch of -1 bytes"),
        (changed(batch(10, THREE), 22, b"\5"), "no codec 5"),
        (changed(batch(10, THREE), 22, b"\1"), "not gzip"),
        (changed(batch(10, THREE), 22, b"\2"), "not snappy"),
        (changed(batch(10, THREE), 22, b"\3"), "not lz4"),
        (changed(batch(10, THREE), 22, b"\4"), "not zstd"),
        (changed(batch(10, THREE), 23, b"\xff\xff\xff\xff"), "negative number of records"),
        (changed(batch(10, THREE, last=20), 57, b"\0\0\1\0"), "undecodable records"),
        (changed(batch(10, THREE), 61, b"\x7f"), "ends too soon"),
        (changed(message_set(THREE, Codec.GZIP), 30, b"\0\0\0\1"), "ends too soon"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_first_record_rejects_invalid_data(data: bytes, printed: str) -> None:
    with pytest.raises(RemoteProtocolError, match=printed):
        first_records(data, [10, 19])
