"""Read whole records, key and value, from the bytes of a log, as returned by Fetch under read_committed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .budget import Budget
from .record_batch import (
    BATCH,
    Aborted,
    batch_records,
    is_commit_marker,
    read_batches,
    transaction_of,
    undecodable,
    varint,
)


class Entry(NamedTuple):
    """A record. ``timestamp`` is in milliseconds since 1970, negative if the record has none.

    ``transaction``: the producer ID, if it was written in a transaction.
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    transaction: int | None = None


class Marker(NamedTuple):
    """The end of a transaction of a producer."""

    offset: int
    transaction: int
    committed: bool


class Entries(NamedTuple):
    """Records in order, and the offset to continue at: the given one if there was no complete batch."""

    entries: list[Entry]
    until: int
    markers: tuple[Marker, ...] = ()


def read_entries(data: bytes, start: int, aborted: Iterable[Aborted] = (), budget: Budget | None = None) -> Entries:
    """Return the records at or after ``start`` that a consumer would receive.

    :raises RemoteProtocolError: when the bytes are not record batches, or are in a format older than Kafka 0.11.
    :raises ResponseTooLarge: (a subclass) when they unpack to more than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget()
    found: list[Entry] = []
    markers: list[Marker] = []
    until = start
    with undecodable():
        for batch in read_batches(data, aborted, budget):
            if batch.magic != BATCH:
                raise ValueError(f"records in format {batch.magic}")
            transaction = transaction_of(batch)
            if batch.visible:
                for offset, timestamp, body, at, end in batch_records(batch, budget):
                    key, at = bytes_at(body, at)
                    value, at = bytes_at(body, at)
                    if at > end:
                        raise ValueError("a record ends too soon")
                    if offset >= start:
                        found.append(Entry(offset, timestamp, key, value, transaction))
            elif transaction is not None and batch.last >= start:
                markers.append(Marker(batch.base, transaction, is_commit_marker(batch, budget)))
            until = max(until, batch.last + 1)
    return Entries(found, until, tuple(markers))


def bytes_at(data: bytes, at: int) -> tuple[bytes | None, int]:
    """Return the bytes of a field whose size comes first, ``None`` for null, and the offset after it."""
    size, start = varint(data, at)
    if size < 0:
        return None, start
    return data[start : start + size], start + size
