"""The details of records: offsets, sizes, producer, headers, key, and value."""

from __future__ import annotations

import pytest

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.record_batch import Aborted
from kgroups.protocol.record_details import read_details
from tests.fakes.record_batches import TRANSACTIONAL, batch, marker, message


def test_details_of_the_records_at_and_after_an_offset() -> None:
    first = batch(5, [(5, 100), (6, 200), (7, 300)], key=b"k", value=b"four", producer=42)
    second = batch(8, [(8, -1)], value=None)
    found, until = read_details(first.data + second.data, 6, most=10)
    assert until == 9
    assert [(each.offset, each.timestamp, each.key, each.value, each.size) for each in found] == [
        (6, 200, b"k", b"four", 5),
        (7, 300, b"k", b"four", 5),
        (8, None, None, None, 0),
    ]
    assert {(each.batch_base, each.batch_size, each.producer_id) for each in found} == {
        (5, len(first.data), 42),
        (8, len(second.data), None),
    }
    assert read_details(first.data, 6, most=1) == (found[:1], 7)


def test_aborted_records_and_markers_are_not_details() -> None:
    data = batch(0, [(0, 1)], attributes=TRANSACTIONAL, producer=3).data + marker(1, 3).data
    assert read_details(data, 0, [Aborted(3, 0)]) == ([], 2)


def test_details_of_older_formats_are_rejected() -> None:
    with pytest.raises(RemoteProtocolError, match="format 1"):
        read_details(message(0, 1).data, 0)
