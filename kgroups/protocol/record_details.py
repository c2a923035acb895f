"""Read everything about single records: their sizes, producer, headers, key, and value."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.record import Header, RecordDetails

from .budget import Budget
from .record_batch import BATCH, Aborted, batch_records, producer_of, read_batches, undecodable, varint
from .record_entries import bytes_at


def read_details(
    data: bytes, start: int, aborted: Iterable[Aborted] = (), most: int = 1, budget: Budget | None = None
) -> tuple[list[RecordDetails], int]:
    """Return the first records at or after ``start`` that a consumer receives, and the offset to continue at.

    :param most: the maximum number of records.
    :raises RemoteProtocolError: when the bytes are not record batches, or are in a format older than Kafka 0.11.
    :raises ResponseTooLarge: (a subclass) when they unpack to more than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget()
    found: list[RecordDetails] = []
    until = start
    with undecodable():
        for batch in read_batches(data, aborted, budget):
            if batch.magic != BATCH:
                raise ValueError(f"records in format {batch.magic}")
            if batch.visible and batch.last >= start:
                producer = producer_of(batch)
                for offset, timestamp, body, key_at, end in batch_records(batch, budget):
                    if offset < start:
                        continue
                    if len(found) == most:
                        return found, offset
                    key, at = bytes_at(body, key_at)
                    value, at = bytes_at(body, at)
                    number, at = varint(body, at)
                    headers = []
                    for _ in budget.turns(number):
                        name, at = bytes_at(body, at)
                        content, at = bytes_at(body, at)
                        headers.append(Header((name or b"").decode("utf-8", "replace"), content))
                    if at > end:
                        raise ValueError("a record ends too soon")
                    found.append(
                        RecordDetails(
                            offset,
                            None if timestamp < 0 else timestamp,
                            key,
                            value,
                            tuple(headers),
                            sum(len(each) for each in (key, value) if each is not None),
                            len(batch.data),
                            batch.base,
                            producer,
                        )
                    )
            until = max(until, batch.last + 1)
    return found, until
