"""Read records as far as they are compared with those of another log: time, key, value, and headers, and an origin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kgroups.model.translation.copies import Copy

from .budget import Budget
from .record_batch import (
    BATCH,
    Aborted,
    batch_records,
    epoch_of,
    has_append_time,
    is_marker,
    read_batches,
    undecodable,
    varint,
)
from .record_entries import bytes_at


class Copies(NamedTuple):
    """Records in order, also those of aborted transactions, and the offset to continue at.

    ``append_time``: whether any of them has the time at which the broker appended it. ``origins``: by offset, the
    source's offset in the requested header: a number, or 8 bytes in one of both orders.
    """

    records: list[Copy]
    until: int
    append_time: bool
    origins: dict[int, int | bytes]


def read_copies(
    data: bytes, start: int, aborted: Iterable[Aborted] = (), header: bytes | None = None, budget: Budget | None = None
) -> Copies:
    """Return the records at or after ``start``, without transaction markers.

    :param header: the name of a header with an offset, as decimal digits or as 8 bytes.
    :raises RemoteProtocolError: when the bytes are not record batches, or are in a format older than Kafka 0.11.
    :raises ResponseTooLarge: (a subclass) when they unpack to more than the budget has room for.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    budget = budget or Budget()
    found: list[Copy] = []
    origins: dict[int, int | bytes] = {}
    until, append_time = start, False
    with undecodable():
        for batch in read_batches(data, aborted, budget):
            if batch.magic != BATCH:
                raise ValueError(f"records in format {batch.magic}")
            until = max(until, batch.last + 1)
            if batch.last < start or is_marker(batch):
                continue
            epoch = epoch_of(batch)
            append_time = append_time or has_append_time(batch)
            for offset, timestamp, body, at, end in batch_records(batch, budget):
                if offset < start:
                    continue
                headers_at = bytes_at(body, bytes_at(body, at)[1])[1]
                found.append(Copy(offset, (timestamp, body[at:end]), not batch.visible, epoch, headers_at - at))
                if header is not None and (origin := _origin(body, headers_at, header)) is not None:
                    origins[offset] = origin
    return Copies(found, until, append_time, origins)


def _origin(body: bytes, at: int, header: bytes) -> int | bytes | None:
    """Return the offset in the last header of this name: a copier appends its own."""
    origin: int | bytes | None = None
    number, at = varint(body, at)
    for _ in range(number):
        name, at = bytes_at(body, at)
        value, at = bytes_at(body, at)
        if name == header and value:
            origin = int(value) if value.isdigit() else value if len(value) == 8 else None
    return origin
