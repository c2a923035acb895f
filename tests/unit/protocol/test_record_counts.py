"""Records counted in every log format, without markers, aborted records, and what compaction removed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from kgroups.errors import RemoteProtocolError
from kgroups.protocol import first_records
from kgroups.protocol.budget import Budget
from kgroups.protocol.compression import Codec
from kgroups.protocol.record_batch import Aborted
from kgroups.protocol.record_counts import Counts, count_records
from tests.fakes.record_batches import TRANSACTIONAL, Batch, batch, compress, log_bytes, marker, message, message_set


def count(*batches: Batch, start: int = 10, marks: tuple[int, ...] = (), end: int = 100, aborted: int = -1) -> Counts:
    transactions = [Aborted(7, aborted)] if aborted >= 0 else []
    return count_records(log_bytes(batches), start, marks, end, transactions, Budget())


def numbered(*offsets: int, **rest: object) -> Batch:
    return batch(offsets[0], [(offset, 1) for offset in offsets], **rest)  # type: ignore[arg-type]


def test_markers_and_aborted_records_do_not_count() -> None:
    log = (
        numbered(10, 11, attributes=TRANSACTIONAL, producer=7),
        marker(12, 7),
        numbered(13, 14, 15, attributes=TRANSACTIONAL, producer=7),
        marker(16, 7),
        numbered(17),
    )
    assert count(*log) == Counts(6, {}, 18)
    assert count(*log, aborted=10) == Counts(4, {}, 18)
    assert count(*log, aborted=13, marks=(10, 12, 16, 17)) == Counts(3, {10: 0, 12: 2, 16: 2, 17: 2}, 18)


def test_offsets_that_compaction_removed_do_not_count() -> None:
    log = (numbered(10, 13, last=19), numbered(40, 45, last=49))
    assert count(*log, marks=(13, 14, 20, 30, 45, 46)) == Counts(4, {13: 1, 14: 2, 20: 2, 30: 2, 45: 3, 46: 4}, 50)


@pytest.mark.parametrize("codec", list(Codec))
def test_batch_across_the_start_or_the_end_counts_in_part(codec: Codec) -> None:
    log = (numbered(8, 9, 10, 11, codec=codec), numbered(12, 13, 14, 15, codec=codec))
    assert count(*log, end=14) == Counts(4, {}, 14)
    assert count(*log, end=14, marks=(11, 13)) == Counts(4, {11: 1, 13: 3}, 14)
    assert count(numbered(8, 9), *log[1:], end=12).until == 12


def test_whole_batches_are_not_decompressed(mocker: MockerFixture) -> None:
    mocker.patch.object(first_records, "batch_records", side_effect=AssertionError)
    log = (numbered(10, 11, 12, codec=Codec.GZIP), numbered(13, 14, codec=Codec.ZSTD))
    assert count(*log, marks=(10, 13)) == Counts(5, {10: 0, 13: 3}, 15)


def test_older_formats_count_messages() -> None:
    wrapped = message_set([(12, 1), (13, 1), (15, 1)], Codec.GZIP)
    assert count(message(10, 1), message(11, None), wrapped, marks=(13,)) == Counts(5, {13: 3}, 16)
    assert count(wrapped, start=13) == Counts(2, {}, 16)
    assert count(wrapped, end=14) == Counts(2, {}, 14)


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY])
def test_wrapped_messages_without_timestamps_count(codec: Codec) -> None:
    inner = b"".join(message(offset, None).data for offset in (12, 13, 14))
    wrapped = message(14, None, attributes=int(codec), value=compress(codec, inner), key=b"key")
    assert count(message(10, None), wrapped, marks=(13,)) == Counts(4, {13: 2}, 15)
    assert count(wrapped, start=13) == Counts(2, {}, 15)


def test_truncated_batch_is_not_counted() -> None:
    whole = log_bytes((numbered(10, 11), numbered(12, 13)))
    assert count_records(whole[:-1], 10, (12,), 100, (), Budget()) == Counts(2, {}, 12)
    assert count() == Counts(0, {}, 10)


def test_header_with_more_records_than_offsets_is_rejected() -> None:
    data = bytearray(numbered(10, 11).data)
    data[57:61] = b"\0\0\0\3"
    with pytest.raises(RemoteProtocolError, match="a batch of 3 records at 2 offsets"):
        count_records(bytes(data), 10, (), 100, (), Budget())


@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=5), max_size=6),
    st.lists(st.integers(0, 30), max_size=4),
    st.integers(0, 30),
    st.integers(0, 30),
)
def test_count_is_that_of_the_records_one_by_one(
    shape: list[list[bool]], marks: list[int], start: int, end: int
) -> None:
    """``shape``: in each batch, whether there is a record at each offset."""
    batches, present, base = [], [], 0
    for kept in shape:
        offsets = [base + at for at, record in enumerate(kept) if record]
        batches.append(batch(base, [(offset, 1) for offset in offsets], last=base + len(kept) - 1))
        present += offsets
        base += len(kept)
    found = count_records(log_bytes(batches), start, marks, end, (), Budget())
    assert found.total == sum(start <= offset < found.until for offset in present)
    assert found.until == max(start, min(base, end)) or found.until == start
    for mark in {each for each in marks if start <= each < found.until}:
        assert found.before[mark] == sum(start <= offset < mark for offset in present)
