"""Count the records that a consumer would receive, mostly from the headers of batches, without decompressing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .budget import Budget
from .first_records import offsets_of
from .record_batch import BATCH, Aborted, Batch, read_batches, undecodable


class Counts(NamedTuple):
    """The number of records from the first offset to ``until``, and before each mark that is not after it."""

    total: int
    before: Mapping[int, int]
    until: int


def count_records(
    data: bytes, start: int, marks: Iterable[int], end: int, aborted: Iterable[Aborted], budget: Budget
) -> Counts:
    """Count the records at or after ``start`` and before ``end`` in what a leader returned from ``start`` on.

    Transaction markers do not count, and neither do records of the transactions in ``aborted``. Compaction corrects the
    number of records in the header of a batch.

    :raises RemoteProtocolError: when the bytes are not records.
    :raises ResponseTooLarge: (a subclass) when they unpack to more than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    pending = sorted({mark for mark in marks if start <= mark < end}, reverse=True)
    before: dict[int, int] = {}
    total, until = 0, start
    with undecodable():
        for batch in read_batches(data, aborted, budget):
            if batch.last < start:
                continue
            base = batch.base if batch.magic == BATCH else until  # a wrapper has the offset of its last message
            if base >= end:
                until = end
                break
            while pending and pending[-1] <= base:
                before[pending.pop()] = total
            if _is_inside(batch, start, end) and not (pending and pending[-1] <= batch.last):
                if batch.records > batch.last - batch.base + 1:
                    raise ValueError(f"a batch of {batch.records} records at {batch.last - batch.base + 1} offsets")
                total += batch.records if batch.visible else 0
            else:
                for offset in offsets_of(batch, budget) if batch.visible else ():
                    while pending and pending[-1] <= offset:
                        before[pending.pop()] = total
                    total += start <= offset < end
            until = min(batch.last + 1, end)
    before |= {mark: total for mark in pending if mark < until}
    return Counts(total, before, until)


def _is_inside(batch: Batch, start: int, end: int) -> bool:
    return batch.magic == BATCH and start <= batch.base and batch.last < end
